/**
 * Requests and responses: a header, then the body that the API's table describes.
 *
 * Request header v1 is api key, version, correlation id and client id; v2, of flexible versions, adds a tagged section,
 * but the client id stays a plain string. Response header v0 is the correlation id, v1 adds a tagged section. The answer
 * to ApiVersions always has v0, so that a client can read it whatever the broker is (KIP-511).
 *
 * A body must fill its frame: bytes that are left over are malformed.
 */
import { apis } from './apis/index.ts';
import type { ApiName, RequestBody, ResponseBody } from './apis/index.ts';
import { compile, maxStringBytes, skipTagged } from './codec.ts';
import type { Codec } from './codec.ts';
import { ErrorCode } from './errors.ts';
import { ProtocolError } from './protocol-error.ts';
import type { RequestHeader } from './protocol-error.ts';
import { Reader } from './reader.ts';
import type { Api, VersionRange } from './schema.ts';
import { Writer } from './writer.ts';

/** A decoded request; `api` discriminates `body`. */
type DecodedRequest = {
  [A in ApiName]: {
    readonly api: A;
    readonly version: number;
    readonly correlationId: number;
    readonly clientId: string;
    readonly body: RequestBody<A>;
  };
}[ApiName];

interface DecodedResponse<A extends ApiName> {
  readonly correlationId: number;
  readonly body: ResponseBody<A>;
}

const apiNames = Object.keys(apis) as ApiName[];
const nameByKey = new Map(apiNames.map((name) => [apis[name].key as number, name]));

/** The API with this key, if it is one of ours. */
export function apiByKey(key: number): ApiName | undefined {
  return nameByKey.get(key);
}

/** How traces and histories name a message: by the fields of a request's header that tell it apart from all others. */
export function messageText(clientId: string, correlationId: number): string {
  return `${clientId}#${correlationId}`;
}

/** A request without its size prefix. */
export function encodeRequest<A extends ApiName>(
  api: A,
  version: number,
  header: { readonly correlationId: number; readonly clientId: string },
  body: RequestBody<A>,
): Uint8Array {
  const { flexible, request } = codecsOf(api, version);
  const writer = new Writer();
  writer.field = 'header';
  writer.int16(apis[api].key);
  writer.int16(version);
  writer.int32(header.correlationId);
  writer.text(header.clientId, maxStringBytes, (length) => writer.int16(length));
  if (flexible) writer.uvarint(0);
  request.write(writer, body);
  return writer.finish();
}

/** A response without its size prefix. */
export function encodeResponse<A extends ApiName>(
  api: A,
  version: number,
  correlationId: number,
  body: ResponseBody<A>,
): Uint8Array {
  const { flexible, response } = codecsOf(api, version);
  const writer = new Writer();
  writer.field = 'header';
  writer.int32(correlationId);
  if (flexible && api !== 'ApiVersions') writer.uvarint(0);
  response.write(writer, body);
  return writer.finish();
}

/** Reads what the headers of all requests share. */
export function decodeRequestHeader(frame: Uint8Array): RequestHeader {
  return readHeader(new Reader(frame));
}

/**
 * Reads a whole request. One whose API or version is not ours throws a ProtocolError with reason `unknown-api` or
 * `unsupported-version` and with the header; see {@link unsupportedApiVersions} for the one that must be answered.
 * `accepted` says which versions are ours: all of the table, or a broker's {@link servedVersions}.
 */
export function decodeRequest(
  frame: Uint8Array,
  accepted: (api: ApiName) => VersionRange = (api) => apis[api],
): DecodedRequest {
  const reader = new Reader(frame);
  const header = readHeader(reader);
  const { apiKey, apiVersion: version, correlationId, clientId } = header;
  const api = apiByKey(apiKey);
  if (api === undefined) throw new ProtocolError('unknown-api', `api key ${apiKey} is not known`, header);
  const { minVersion, maxVersion } = accepted(api);
  if (version < minVersion || version > maxVersion) {
    const message = `${api} v${version} is not spoken, only v${minVersion} to v${maxVersion}`;
    throw new ProtocolError('unsupported-version', message, header);
  }
  const { flexible, request } = codecsOf(api, version);
  const body = readWhole(reader, `${api} v${version} request`, header, () => {
    if (flexible) skipTagged(reader);
    return request.read(reader);
  });
  // The table that decoded the body is the one that its type is inferred from.
  return { api, version, correlationId, clientId, body } as DecodedRequest;
}

/** Reads a whole response to a request of this API and version. */
export function decodeResponse<A extends ApiName>(api: A, version: number, frame: Uint8Array): DecodedResponse<A> {
  const reader = new Reader(frame);
  const { flexible, response } = codecsOf(api, answerVersion(api, version, frame));
  return readWhole(reader, `${api} v${version} response`, undefined, () => {
    reader.field = 'correlationId';
    const correlationId = reader.int32();
    if (flexible && api !== 'ApiVersions') skipTagged(reader);
    return { correlationId, body: response.read(reader) as ResponseBody<A> };
  });
}

/** Whether the codec has this version of `api`. */
export function isSpoken(api: ApiName, version: number): boolean {
  return version >= apis[api].minVersion && version <= apis[api].maxVersion;
}

/** The versions of `api` that our own broker answers. */
export function servedVersions(api: ApiName): VersionRange {
  const { served }: Api<unknown, unknown> = apis[api];
  return served ?? apis[api];
}

/** The body of a broker's answer to ApiVersions, in the order of the keys. */
export function advertisedVersions(): ResponseBody<'ApiVersions'> {
  const apiKeys = apiNames.flatMap((name) => {
    const { key, advertised } = apis[name];
    return advertised === null ? [] : [{ apiKey: key, ...advertised }];
  });
  apiKeys.sort((left, right) => left.apiKey - right.apiKey);
  return apiVersionsBody(ErrorCode.NONE, apiKeys);
}

/**
 * The answer to an ApiVersions request in a version that is not spoken: in version 0, with the range that is (KIP-511).
 */
export function unsupportedApiVersions(correlationId: number): Uint8Array {
  const { key, advertised } = apis.ApiVersions;
  const body = apiVersionsBody(ErrorCode.UNSUPPORTED_VERSION, [{ apiKey: key, ...advertised! }]);
  return encodeResponse('ApiVersions', 0, correlationId, body);
}

function apiVersionsBody(
  errorCode: number,
  apiKeys: ResponseBody<'ApiVersions'>['apiKeys'],
): ResponseBody<'ApiVersions'> {
  return {
    errorCode,
    apiKeys,
    throttleTimeMs: 0,
    supportedFeatures: [],
    finalizedFeaturesEpoch: -1,
    finalizedFeatures: [],
  };
}

/** A broker that does not know the version of an ApiVersions request answers in version 0, whatever was asked. */
function answerVersion(api: ApiName, version: number, frame: Uint8Array): number {
  if (api !== 'ApiVersions' || version === 0 || frame.length < 6) return version;
  const errorCode = new DataView(frame.buffer, frame.byteOffset).getInt16(4);
  return errorCode === ErrorCode.UNSUPPORTED_VERSION ? 0 : version;
}

function readHeader(reader: Reader): RequestHeader {
  reader.field = 'header';
  const apiKey = reader.int16();
  const apiVersion = reader.int16();
  const correlationId = reader.int32();
  const length = reader.int16();
  const clientId = length === -1 ? '' : reader.utf8(length);
  return { apiKey, apiVersion, correlationId, clientId };
}

/** Runs `read`, which must consume the frame; says in its error which message was refused. */
function readWhole<T>(reader: Reader, what: string, header: RequestHeader | undefined, read: () => T): T {
  try {
    const value = read();
    if (reader.remaining > 0) reader.fail(`${reader.remaining} bytes after the end`);
    return value;
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    throw new ProtocolError(error.reason, `${what}: ${error.message}`, header);
  }
}

interface MessageCodecs {
  readonly flexible: boolean;
  readonly request: Codec;
  readonly response: Codec;
}

const compiled = new Map<ApiName, MessageCodecs[]>();

/** Compiled at first use and kept: there are few versions, and a process speaks fewer. */
function codecsOf(api: ApiName, version: number): MessageCodecs {
  const known = compiled.get(api)?.[version];
  if (known !== undefined) return known;
  if (!isSpoken(api, version)) throw new RangeError(`${api} v${version} is not in its table`);
  const definition: Api<unknown, unknown> = apis[api];
  const flexible = version >= definition.flexibleSince;
  const codecs = {
    flexible,
    request: compile(definition.request.shape, version, flexible),
    response: compile(definition.response.shape, version, flexible),
  };
  const byVersion = compiled.get(api) ?? [];
  byVersion[version] = codecs;
  compiled.set(api, byVersion);
  return codecs;
}
