/** What `doctor` says, as one document: types only. `--json` prints it. */
import type { Capabilities } from '../../checker/results.ts';

export interface DoctorDocument {
  readonly schemaVersion: 1;
  readonly type: 'doctor';
  /** What was looked for on this machine. */
  readonly checks: readonly Check[];
  /** What can therefore be run here. */
  readonly runs: readonly Runnable[];
  /** What can be done to each kind of broker, and known of it. */
  readonly targets: readonly TargetDocument[];
}

export interface TargetDocument {
  readonly name: string;
  readonly capabilities: Capabilities;
  /** By guarantee that can be checked: what of it cannot. */
  readonly partly: Readonly<Partial<Record<string, string>>>;
}

export interface Check {
  readonly name: 'node' | 'memory' | 'disk' | 'engine' | 'nft' | 'containers' | 'images' | 'java' | 'maven' | 'kafka';
  /** `low`: it is there, and little of it. `unknown`: it could not be looked at. */
  readonly state: 'ok' | 'low' | 'missing' | 'unknown';
  /** What was found, or why it is missing, in one line. */
  readonly found: string;
  /** What to do about it; null where there is nothing to do. */
  readonly remedy: string | null;
}

/** One way of running brokers. */
export interface Runnable {
  readonly name: 'sim' | 'local' | 'docker' | 'kafka';
  readonly able: boolean;
  /** One line: what for, or why not. */
  readonly line: string;
}
