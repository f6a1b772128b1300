/**
 * What a version of a message carries: a body as its receiver sees it, without a detour over bytes.
 *
 * A field that a version does not have arrives with its default, whatever the sender put into it. So a body that is
 * handed over as an object must be cut to its version first, or a field would be smuggled that no wire carries.
 *
 * Invariant: the result equals what encoding and decoding would give. Where that differs in nothing from the body, as
 * where a version has every field of its table, it is the body itself; what is cut is a copy.
 */
import { apis } from './apis/index.ts';
import type { ApiName, RequestBody, ResponseBody } from './apis/index.ts';
import type { Api, FieldShape, Shape } from './schema.ts';

/** The request body as its receiver sees it in this version. */
export function carriedRequest<A extends ApiName>(api: A, version: number, body: RequestBody<A>): RequestBody<A> {
  const { request } = cutsOf(api, version);
  return request === null ? body : (request(body) as RequestBody<A>);
}

/** The response body as its receiver sees it in this version. */
export function carriedResponse<A extends ApiName>(api: A, version: number, body: ResponseBody<A>): ResponseBody<A> {
  const { response } = cutsOf(api, version);
  return response === null ? body : (response(body) as ResponseBody<A>);
}

/** Makes the value of a version; null where every value is carried as it is. */
type Cut = ((value: unknown) => unknown) | null;

interface Cuts {
  readonly request: Cut;
  readonly response: Cut;
}

const known = new Map<ApiName, Cuts[]>();

function cutsOf(api: ApiName, version: number): Cuts {
  const cuts = known.get(api)?.[version];
  if (cuts !== undefined) return cuts;
  const definition: Api<unknown, unknown> = apis[api];
  if (version < definition.minVersion || version > definition.maxVersion) {
    throw new RangeError(`${api} v${version} is not in its table`);
  }
  const made = {
    request: cutOf(definition.request.shape, version),
    response: cutOf(definition.response.shape, version),
  };
  const byVersion = known.get(api) ?? [];
  byVersion[version] = made;
  known.set(api, byVersion);
  return made;
}

function cutOf(shape: Shape, version: number): Cut {
  if (shape.kind === 'array') return arrayCut(cutOf(shape.element, version));
  return shape.kind === 'struct' ? structCut(shape.fields, version) : null;
}

function arrayCut(element: Cut): Cut {
  if (element === null) return null;
  return (value) => {
    if (value === null) return null;
    const elements = value as readonly unknown[];
    let carried: unknown[] | null = null;
    for (let index = 0; index < elements.length; index += 1) {
      const cut = element(elements[index]);
      if (cut === elements[index]) continue;
      carried ??= elements.slice();
      carried[index] = cut;
    }
    return carried ?? elements;
  };
}

function structCut(fields: readonly FieldShape[], version: number): Cut {
  const cuts = fields.flatMap(({ name, since, until, shape, defaultValue }) => {
    if (version < since || version > until) return [{ name, cut: () => defaultValue }];
    const cut = cutOf(shape, version);
    return cut === null ? [] : [{ name, cut }];
  });
  if (cuts.length === 0) return null;
  return (value) => {
    const fieldsOf = value as Readonly<Record<string, unknown>>;
    let carried: Record<string, unknown> | null = null;
    for (const { name, cut } of cuts) {
      const part = cut(fieldsOf[name]);
      if (part === fieldsOf[name]) continue;
      carried ??= { ...fieldsOf };
      carried[name] = part;
    }
    return carried ?? value;
  };
}
