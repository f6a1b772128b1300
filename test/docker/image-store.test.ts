import { expect, it } from 'vitest';
import { pullProblem } from '../../docker/image-store.ts';

it.each([
  [
    '(HTTP code 500) server error - Get "https://registry.example/v2/": dial tcp: lookup registry.example on 10.0.0.1:53: network is unreachable ',
    'the engine reaches no registry for a/b:1: connect it, load the image from a file (`docker load`), or leave --pulled out',
  ],
  [
    '(HTTP code 404) no such image - manifest for a/b:1 not found: manifest unknown: manifest unknown ',
    'there is no image a/b:1 where the engine looks: see the tags that its project publishes, or leave --pulled out',
  ],
  [
    'toomanyrequests: you have reached a limit\nmore',
    'the engine could not pull a/b:1: toomanyrequests: you have reached a limit',
  ],
])('what the engine complains of when it pulls becomes one line with the remedy: %s', (complaint, line) => {
  expect(pullProblem('a/b:1', complaint)).toBe(line);
});
