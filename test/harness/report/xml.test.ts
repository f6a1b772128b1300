import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { element, xmlDocument } from '../../../harness/report/xml.ts';
import { hostile } from './reported.ts';
import { parseXml } from './well-formed.ts';

describe('an element', () => {
  it('holds text and attributes as they were, but for what XML forbids', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const { attributes, text: content } = parseXml(xmlDocument(element('a', { b: text }, text)));
        const allowed = text
          .toWellFormed()
          .replaceAll(/\p{Cc}|[\uFFFE\uFFFF]/gu, (character) =>
            /[\t\n\r\u007F-\u009F]/.test(character) ? character : '\uFFFD',
          );
        expect([attributes['b'], content]).toEqual([allowed, allowed]);
      }),
    );
  });

  it('has only the attributes that are given', () => {
    expect(element('a', { b: undefined, c: 0 }).text).toBe('<a c="0"/>');
  });
});

describe('the strict reader of these tests', () => {
  it.each([
    '<a>',
    '<a></b>',
    '<a b=c/>',
    '<a b="<"/>',
    '<a>&</a>',
    '<a>&nbsp;</a>',
    '<a>&#0;</a>',
    '<a>]]></a>',
    '<a/><b/>',
    '<a b="" b=""/>',
    '<a>\u0001</a>',
  ])('refuses %s', (text) => {
    expect(() => parseXml(`<?xml version="1.0" encoding="UTF-8"?>\n${text}`)).toThrow(/./);
  });
});
