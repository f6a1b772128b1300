/**
 * What a version of a message carries: a body as its receiver sees it, without a detour over bytes.
 *
 * A field that a version does not have arrives with its default, whatever the sender put into it. So a body that is
 * handed over as an object must be cut to its version first, or a field would be smuggled that no wire carries.
 *
 * Invariant: the result equals what encoding and decoding would give. Where a version has every field of its table, that
 * is the body itself.
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
  return (value) => (value === null ? null : (value as readonly unknown[]).map((each) => element(each)));
}

function structCut(fields: readonly FieldShape[], version: number): Cut {
  const absent = fields.filter(({ since, until }) => version < since || version > until);
  const defaults = Object.fromEntries(absent.map(({ name, defaultValue }) => [name, defaultValue]));
  const cuts = fields.flatMap((field) => {
    const cut = absent.includes(field) ? null : cutOf(field.shape, version);
    return cut === null ? [] : [{ name: field.name, cut }];
  });
  if (absent.length === 0 && cuts.length === 0) return null;
  return (value) => {
    const carried = { ...(value as Readonly<Record<string, unknown>>), ...defaults };
    for (const { name, cut } of cuts) carried[name] = cut(carried[name]);
    return carried;
  };
}
