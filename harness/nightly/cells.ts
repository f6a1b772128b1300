/**
 * From the config of a night to its cells: each pair of builds under each workload and each set of faults.
 *
 * All configurations are made here, before anything is started, so that whatever a flag or a combination of flags is
 * refused for is said at once, with where in the file it stands.
 */
import type { NightCell } from '../../checker/results.ts';
import { isDescribed, besideForeign, demandContainers } from '../cli/beside-foreign.ts';
import { commandOfRun } from '../cli/compare.ts';
import { flagsOf, runConfigFrom } from '../cli/options.ts';
import type { PairsRequest, Side } from '../compare/pairs.ts';
import { UsageError } from '../errors.ts';
import { isForeignBuild } from '../foreign-build.ts';
import type { RunConfig } from '../plan/config.ts';
import type { Shard } from '../plan/shard.ts';
import { buildInWords } from '../report/words.ts';
import { parseFlags, type FlagValues, type NightConfig, type NightSide } from './config.ts';

/** Who a cell is, by the names in the config file. */
export type CellName = Pick<NightCell, 'name' | 'builds' | 'workload' | 'faults' | 'folder' | 'sameBuilds'>;

export interface Cell extends CellName, Pick<PairsRequest, 'control' | 'candidate' | 'configure' | 'commandOfRun'> {
  /** Each side as the report calls it. */
  readonly labels: Readonly<Record<Side, string>>;
  /** The comparison of this cell alone, where `compare` can make it; null where its sides have bugs of their own. */
  readonly command: string | null;
  readonly brokers: number;
  /** What one of its runs takes at least. */
  readonly leastMs: number;
}

const mostCells = 100;
/** Over all cells: their ledger is read at once, and so may take some 1,300 bytes for each of them. */
const mostPairs = 200_000;

/** What is the same for all cells. */
export interface Around {
  /** As it was typed: errors begin with it. */
  readonly file: string;
  readonly runtime: RunConfig['runtime'];
  readonly seeds: { readonly from: number; readonly count: number };
  readonly shard?: Shard | undefined;
}

/** All cells, in the order of the file. Throws a UsageError of one line for the first that cannot be. */
export async function cellsOf(config: NightConfig, around: Around): Promise<Cell[]> {
  const { file, seeds } = around;
  const groups = { builds: config.builds, workloads: config.workloads, faults: config.faults };
  const sizes = Object.values(groups).map((group) => Object.keys(group).length);
  const count = sizes.reduce((product, size) => product * size, 1);
  if (count > mostCells) {
    throw new UsageError(
      `${file}: ${sizes[0]} builds, ${sizes[1]} workloads and ${sizes[2]} faults make ${count} cells, and ${mostCells} are the most`,
    );
  }
  if (count * seeds.count > mostPairs) {
    throw new UsageError(
      `${file}: seeds.count: ${count} cells make ${count * seeds.count} pairs, and ${mostPairs} are the most`,
    );
  }
  for (const kind of ['workloads', 'faults'] as const) {
    for (const [name, values] of Object.entries(groups[kind])) parseFlags(`${file}: ${kind}.${name}`, values);
  }
  const builds = Object.values(config.builds).flatMap(({ control, candidate }) => [control.build, candidate.build]);
  if (config.description !== undefined && !builds.some(isDescribed)) {
    throw new UsageError(`${file}: description: it describes an image:<ref>, and no build is one`);
  }
  const cells: Cell[] = [];
  for (const [buildsName, pair] of Object.entries(config.builds)) {
    for (const [workload, load] of Object.entries(config.workloads)) {
      for (const [faultsName, nemesis] of Object.entries(config.faults)) {
        const name = `${buildsName}.${workload}.${faultsName}`;
        const who = { name, builds: buildsName, workload, faults: faultsName, folder: name };
        cells.push(await cellOf(who, pair, { ...load, ...nemesis }, config.description, around));
      }
    }
  }
  return cells;
}

async function cellOf(
  who: Omit<CellName, 'sameBuilds'>,
  pair: Readonly<Record<Side, NightSide>>,
  values: FlagValues,
  description: string | undefined,
  around: Around,
): Promise<Cell> {
  const { file, runtime, seeds, shard } = around;
  const builds = [pair.control.build, pair.candidate.build];
  const defects = {
    control: defectsOf(pair.control, file, who.builds, 'control'),
    candidate: defectsOf(pair.candidate, file, who.builds, 'candidate'),
  };
  const described = description !== undefined && builds.some(isDescribed) ? { description } : {};
  const { flags, command } = parseFlags(`${file}: cell ${who.name}`, { ...values, ...described });
  const configured = await within(`${file}: cell ${who.name}`, async () => {
    const counted = builds.some(isForeignBuild) ? await foreignFlags() : flags;
    const configure: PairsRequest['configure'] = (build, seed, side) =>
      runConfigFrom({ ...counted, defect: defects[side] }, build, seed, runtime);
    // Both sides are tried before anything runs.
    return {
      configure,
      control: configure(pair.control.build, seeds.from, 'control'),
      candidate: configure(pair.candidate.build, seeds.from, 'candidate'),
    };
  });
  const sameDefects = defects.control.join() === defects.candidate.join();
  return {
    ...who,
    sameBuilds: sameDefects && pair.control.build === pair.candidate.build,
    control: pair.control.build,
    candidate: pair.candidate.build,
    labels: {
      control: buildInWords(pair.control.build, defects.control),
      candidate: buildInWords(pair.candidate.build, defects.candidate),
    },
    configure: configured.configure,
    commandOfRun,
    command: sameDefects ? commandOfCell(configured.control, configured.candidate, seeds, shard) : null,
    brokers: configured.control.brokers,
    leastMs: runtime === 'sim' ? 0 : configured.control.timeLimitMs,
  };

  async function foreignFlags(): Promise<typeof flags> {
    demandContainers({ ...flags, runtime }, builds);
    return besideForeign(flags, command, builds);
  }
}

/** The bugs of one side, as `--defect` understands them. */
function defectsOf({ defect }: NightSide, file: string, builds: string, side: Side): readonly string[] {
  if (defect === undefined) return [];
  return parseFlags(`${file}: builds.${builds}.${side}`, { defect }).flags.defect;
}

/** As `compare` would be typed. */
function commandOfCell(
  control: RunConfig,
  candidate: RunConfig,
  { from, count }: Around['seeds'],
  shard: Shard | undefined,
): string {
  return [
    `npm start -- --control ${control.build} --candidate ${candidate.build} --seed ${from} --test-count ${count}`,
    ...(shard === undefined ? [] : [`--shard ${shard.index}/${shard.count}`]),
    ...flagsOf(control),
    // Of the candidate alone, and not among the flags of the control.
    ...(candidate.description === undefined || control.description !== undefined
      ? []
      : [`--description ${candidate.description}`]),
  ].join(' ');
}

/** What is refused is told with where it stands. */
async function within<Made>(where: string, make: () => Promise<Made>): Promise<Made> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${where}: ${error.message}`);
    throw error;
  }
}
