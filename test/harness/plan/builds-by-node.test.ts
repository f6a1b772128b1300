import { describe, expect, it } from 'vitest';
import { buildsByNode } from '../../../harness/plan/builds-by-node.ts';

const known = ['hw', 'hw-elect', 'epoch'];

describe('a build specification', () => {
  it('gives one name to every broker', () => {
    expect(buildsByNode('epoch', 3, known)).toEqual(
      new Map([
        [1, 'epoch'],
        [2, 'epoch'],
        [3, 'epoch'],
      ]),
    );
  });

  it('gives each node its own where nodes are named', () => {
    expect(buildsByNode('1=hw,2-3=hw-elect', 3, known)).toEqual(
      new Map([
        [1, 'hw'],
        [2, 'hw-elect'],
        [3, 'hw-elect'],
      ]),
    );
  });

  it.each([
    ['nothing', 'there is no build "nothing"'],
    ['', '"" is not a build'],
    ['1=hw', 'gives node 2 no build'],
    ['1-3=hw,2=epoch', 'gives node 2 two builds'],
    ['4=hw,1-3=epoch', 'outside of 1 to 3'],
    ['3-1=hw', 'outside of 1 to 3'],
    ['HW', 'is not a build'],
  ])('refuses %j and says why', (specification, why) => {
    expect(buildsByNode(specification, 3, known)).toContain(why);
  });
});
