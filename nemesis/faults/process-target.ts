/**
 * Whose process a fault of processes is aimed at: mostly one node with a role that matters, now and then several.
 *
 * Invariant: what is drawn is a function of the draws alone, in their order: stored seeds depend on it.
 */
import type { Target } from '../schedule.ts';
import { drawChoice } from './program.ts';
import type { Draws } from './program.ts';

/** A broker, several, or the controller. */
export function drawProcessTarget(partition: string, random: Draws): Target {
  const draw = drawChoice(random);
  if (random.chance(0.1)) return { role: 'controller' };
  return brokers(partition, random, draw, 0.15);
}

/** A broker, or with that chance several. */
export function drawBrokerTarget(partition: string, random: Draws, chanceOfSeveral: number): Target {
  return brokers(partition, random, drawChoice(random), chanceOfSeveral);
}

function brokers(partition: string, random: Draws, draw: number, chanceOfSeveral: number): Target {
  if (random.chance(chanceOfSeveral)) return random.pick([{ role: 'majority', draw }, { role: 'all' }] as const);
  return random.pick([
    { role: 'one', draw },
    { role: 'minority', draw },
    { role: 'leader', partition },
    { role: 'leader', partition },
    { role: 'isr-follower', partition, draw },
    { role: 'last-in-isr', partition },
  ] as const);
}
