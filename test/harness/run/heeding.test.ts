import { expect, test } from 'vitest';
import { simulateHeeding } from '../../../harness/run/heeding.ts';
import { simulate } from '../../../harness/sim/simulate.ts';
import { requestFor } from '../sim/requests.ts';

const request = requestFor('hw', 3, { timeLimitMs: 3_050 });

test('who heeds a signal gets the same simulation as who does not, and is told of the same seconds', async () => {
  const seconds: number[][] = [[], []];
  const heeding = await simulateHeeding(request, new AbortController().signal, {
    onSecond: (ms) => seconds[0]?.push(ms),
  });
  const other = simulate(request, { onSecond: (ms) => seconds[1]?.push(ms) });
  expect([heeding?.hash, heeding?.events, heeding?.virtualNs]).toEqual([other.hash, other.events, other.virtualNs]);
  expect(heeding?.history).toEqual(other.history);
  expect(seconds).toEqual([
    [1_000, 2_000, 3_000, 3_100],
    [1_000, 2_000, 3_000, 3_100],
  ]);
});

test('a signal that comes on the way is heard there, and what was simulated so far is no simulation', async () => {
  const controller = new AbortController();
  const seconds: number[] = [];
  const simulated = await simulateHeeding(request, controller.signal, {
    onSecond(ms) {
      seconds.push(ms);
      if (ms === 2_000) controller.abort();
    },
  });
  expect([simulated, seconds]).toEqual([null, [1_000, 2_000]]);
});

test('what the process has to do gets its turn while a simulation goes on', async () => {
  let over = false;
  const turns: boolean[] = [];
  setImmediate(() => turns.push(over));
  await simulateHeeding(request, new AbortController().signal);
  over = true;
  expect(turns).toEqual([false]);
});
