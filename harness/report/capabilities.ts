/**
 * What can be done to a kind of broker and known of it, name by name, with a word for each.
 *
 * A target names what it cannot; everything else that is done to brokers at all it can. So the names stand here, once,
 * for `doctor` and for reports, and a target's data is completed by them.
 */
import { guaranteeNames } from '../../checker/verdict.ts';
import type { Able, Capabilities } from '../../checker/results.ts';
import { faultKinds } from '../../nemesis/faults/index.ts';
import { awaitedWords } from '../../nemesis/awaited.ts';
import type { FaultKind } from '../../nemesis/schedule.ts';
import { faultsBeyondTarget } from '../run/beyond-target.ts';
import { foreignFaultKinds } from '../plan/config.ts';

/** Why a kind of fault is not brought about, where nothing more is said of it. */
const withoutFault: Readonly<Partial<Record<FaultKind, string>>> = {
  'slow-links': 'only the simulator makes links slow',
  'rejoin-crash': 'only the simulator makes links slow',
  'power-loss': 'only our brokers tell what they have flushed',
};

/** Of a target that others wrote: what it does not name, it can, as far as anybody's broker can be given it. */
export function completeCapabilities(capabilities: Capabilities): Capabilities {
  const { faults, guarantees, triggers, exposures } = capabilities;
  const beyond = [...faultsBeyondTarget(capabilities)].map(([kind, not]) => [kind, { not }]);
  return {
    faults: { ...faultsAmong(foreignFaultKinds), ...faults, ...Object.fromEntries(beyond) },
    guarantees: { ...byName(guaranteeNames, () => true), ...guarantees },
    triggers: { ...byName(Object.keys(awaitedWords), () => true), ...triggers },
    exposures,
  };
}

/** Of our own brokers, which tell everything: in a runtime that can bring about these faults. */
export function ownCapabilities(faults: readonly FaultKind[]): Capabilities {
  return {
    faults: faultsAmong(faults),
    guarantees: byName(guaranteeNames, () => true),
    triggers: byName(Object.keys(awaitedWords), () => true),
    exposures: true,
  };
}

function faultsAmong(able: readonly FaultKind[]): Record<string, Able> {
  return byName(faultKinds, (kind) =>
    able.includes(kind) ? true : { not: withoutFault[kind] ?? 'it cannot be brought about there' },
  );
}

function byName<Name extends string>(names: readonly Name[], able: (name: Name) => Able): Record<string, Able> {
  return Object.fromEntries(names.map((name) => [name, able(name)]));
}
