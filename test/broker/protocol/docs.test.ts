/** The generated parts of docs/protocol.md are what the tables say. */
import { readFileSync } from 'node:fs';
import { it } from 'vitest';
import { apis, servedVersions } from '../../../broker/protocol/index.ts';
import type { ApiName } from '../../../broker/protocol/index.ts';
import type { Shape, VersionRange } from '../../../broker/protocol/schema.ts';
import { expectGolden } from '../../golden.ts';

const page = 'docs/protocol.md';
const names = Object.keys(apis) as ApiName[];
const notServed: ReadonlySet<ApiName> = new Set(['AlterPartitionReassignments', 'DescribeQuorum']);

function range(of: VersionRange | null): string {
  if (of === null) return '–';
  return of.minVersion === of.maxVersion ? String(of.minVersion) : `${of.minVersion}–${of.maxVersion}`;
}

function versions(): string[] {
  const rows = names.map((name) => {
    const { key, flexibleSince, maxVersion, advertised } = apis[name];
    const flexible = flexibleSince > maxVersion ? '–' : String(flexibleSince);
    const served = notServed.has(name) ? '–' : range(servedVersions(name));
    return `| ${name} | ${key} | ${range(apis[name])} | ${served} | ${range(advertised)} | ${flexible} |`;
  });
  return [
    '| API | key | spoken | served | advertised | flexible from |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ];
}

/** `[]int32`, `[]partition`: Kafka's own way to write types. */
function typeName(shape: Shape): string {
  if (shape.kind === 'array') return `[]${typeName(shape.element)}`;
  return shape.kind;
}

function fields(shape: Shape, depth = 0): string[] {
  if (shape.kind === 'array') return fields(shape.element, depth);
  if (shape.kind !== 'struct') return [];
  return shape.fields.flatMap((each) => {
    const nullable = each.nullableSince === Infinity ? '' : ', nullable';
    return [
      `${'  '.repeat(depth)}- \`${each.name}\`: ${typeName(each.shape)}${nullable}`,
      ...fields(each.shape, depth + 1),
    ];
  });
}

function privateApis(): string[] {
  return names
    .filter((name) => apis[name].key >= 1000)
    .flatMap((name) =>
      (['request', 'response'] as const).flatMap((direction) => [
        `**${name}** (${apis[name].key}) ${direction}`,
        '',
        ...fields(apis[name][direction].shape),
        '',
      ]),
    )
    .slice(0, -1);
}

function withGenerated(text: string, part: string, lines: readonly string[]): string {
  const section = new RegExp(`(<!-- generated: ${part} -->\n)[^]*?(<!-- end -->)`);
  if (!section.test(text)) throw new Error(`${page} has no part '${part}'`);
  return text.replace(section, (_whole, head: string, foot: string) => `${head}${lines.join('\n')}\n${foot}`);
}

it('the page on the protocol lists the APIs, their versions and the private fields as the tables have them', () => {
  const text = readFileSync(page, 'utf8');
  expectGolden(page, withGenerated(withGenerated(text, 'versions', versions()), 'private APIs', privateApis()));
});
