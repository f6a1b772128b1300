/**
 * Followers that keep what they had: clean elections in quick succession, after which some truncate, some do not, and some
 * append behind what their leader does not have. In the end all logs are alike, so only the trace shows it.
 */
import { Story } from './story.ts';
import type { Draws } from './twins/random.ts';

export function keepers(draws: Draws): Story {
  const all = [1, 2, 3];
  const story = new Story({ minInsyncReplicas: 1, build: 'kip101' });
  let leader = draws.pick(all);
  story.begin(leader, all);
  story.commit(1);
  let next = 2;
  const follow = (node: number): void => {
    story.follow(node);
    if (draws.chance(0.35) && story.end(node) > 1) story.truncateByEpoch(node, story.end(node) - 1, leader, 0, 0);
    if (draws.chance(0.75)) story.copy(leader, node);
  };
  for (let count = 2 + draws.below(3); count > 0; count -= 1) {
    for (let sends = draws.below(3); sends > 0; sends -= 1) {
      story.send(next, leader);
      next += 1;
    }
    for (const node of all) if (node !== leader && draws.chance(0.4)) story.copy(leader, node);
    leader = draws.pick(all);
    story.elect(leader, all);
    if (draws.chance(0.9)) story.lead();
    for (let sends = draws.below(3); sends > 0; sends -= 1) {
      story.send(next, leader);
      next += 1;
    }
    for (const node of all) if (node !== leader && draws.chance(0.8)) follow(node);
    if (draws.chance(0.2)) story.restart(draws.pick(all), 0);
    for (const node of all) if (node !== leader && draws.chance(0.3)) story.copy(leader, node);
  }
  story.begin(leader, all);
  story.settle((node) => {
    const common = story.commonEnd(leader, node);
    if (common < story.end(node)) story.truncateByEpoch(node, common, leader, 0, common);
  });
  return story;
}
