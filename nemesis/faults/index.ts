/**
 * The catalogue: every kind of fault, how to draw one and how to make a program of it. A new kind is one file beside
 * this one, one line here, and its shape in `schedule.ts`.
 */
import type { NodeId } from '../ports.ts';
import type { Fault, FaultKind } from '../schedule.ts';
import type { ClusterView } from '../view.ts';
import { crashProgram, drawCrash } from './crash.ts';
import { drawHandoverCrash, handoverCrashProgram } from './handover-crash.ts';
import { drawLeaderBurst, leaderBurstProgram } from './leader-burst.ts';
import { drawLeaderMove, leaderMoveProgram } from './leader-move.ts';
import { drawPartition, partitionProgram } from './partition.ts';
import { drawPause, pauseProgram } from './pause.ts';
import { drawPowerLoss, powerLossProgram } from './power-loss.ts';
import type { DrawContext, Draws, Program } from './program.ts';
import { drawRollingRestart, rollingRestartProgram } from './rolling-restart.ts';
import { drawRejoinCrash, rejoinCrashProgram } from './rejoin-crash.ts';
import { scriptProgram } from './script.ts';
import { drawSlowLinks, slowLinksProgram } from './slow-links.ts';

/** Every kind that can be drawn for a plan, in the order of the documentation; a `script` is written. */
export const faultKinds: readonly FaultKind[] = [
  'partition',
  'slow-links',
  'pause',
  'crash',
  'power-loss',
  'rolling-restart',
  'leader-move',
  'leader-burst',
  'handover-crash',
  'rejoin-crash',
];

/** The roles that the steps of a composite may name, where it does not name its nodes. */
export const rolesOfComposite: Readonly<Record<Extract<Fault, { steps: unknown }>['kind'], readonly string[]>> = {
  'leader-burst': ['leader', 'other', 'deaf', 'controller'],
  'handover-crash': ['leader', 'next-leader', 'follower'],
  'rejoin-crash': ['leader', 'next-leader', 'follower'],
  script: ['first', 'second', 'third', 'fourth', 'fifth', 'controller', 'clients'],
};

/** Whom the fault hits now and what it does, or null when nobody has the role that it is aimed at. */
export function programOf(fault: Fault, view: ClusterView, brokers: readonly NodeId[]): Program | null {
  switch (fault.kind) {
    case 'partition':
      return partitionProgram(fault, view, brokers);
    case 'pause':
      return pauseProgram(fault, view, brokers);
    case 'crash':
      return crashProgram(fault, view, brokers);
    case 'slow-links':
      return slowLinksProgram(fault, view, brokers);
    case 'power-loss':
      return powerLossProgram(fault, view, brokers);
    case 'rolling-restart':
      return rollingRestartProgram(fault, view, brokers);
    case 'leader-move':
      return leaderMoveProgram(fault, view, brokers);
    case 'leader-burst':
      return leaderBurstProgram(fault, view, brokers);
    case 'handover-crash':
      return handoverCrashProgram(fault, view, brokers);
    case 'rejoin-crash':
      return rejoinCrashProgram(fault, view, brokers);
    case 'script':
      return scriptProgram(fault, view, brokers);
  }
}

/** A fault without its place in the plan. */
export type DrawnFault = Fault extends infer F ? (F extends Fault ? Omit<F, 'id' | 'at'> : never) : never;

/** Draws the parameters of a fault of that kind. */
export function drawFault(kind: FaultKind, context: DrawContext, random: Draws): DrawnFault {
  switch (kind) {
    case 'partition':
      return drawPartition(context, random);
    case 'pause':
      return drawPause(context, random);
    case 'crash':
      return drawCrash(context, random);
    case 'slow-links':
      return drawSlowLinks(context, random);
    case 'power-loss':
      return drawPowerLoss(context, random);
    case 'rolling-restart':
      return drawRollingRestart(context, random);
    case 'leader-move':
      return drawLeaderMove(context, random);
    case 'leader-burst':
      return drawLeaderBurst(context, random);
    case 'handover-crash':
      return drawHandoverCrash(context, random);
    case 'rejoin-crash':
      return drawRejoinCrash(context, random);
    case 'script':
      throw new Error('a script is written, never drawn');
  }
}
