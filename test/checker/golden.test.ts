import { describe, it } from 'vitest';
import { verdictText } from '../../harness/check/verdict-text.ts';
import { expectGolden } from '../golden.ts';
import { s10, s11, s1a, s1aPrime, s2, s3b } from './schedules.ts';

describe('the printed verdict', () => {
  it.each([
    ['s1a-hw', () => s1a('hw')],
    ['s1a-epoch', () => s1a('epoch')],
    ['s1a-prime-hw', () => s1aPrime('hw')],
    ['s2-hw', () => s2('hw')],
    ['s3b-kip101', s3b],
    ['s10', s10],
    ['s11', s11],
  ] as const)('tells %s so that anyone can follow it', (name, tell) => {
    expectGolden(`test/checker/golden/${name}.txt`, verdictText(tell().check()));
  });
});
