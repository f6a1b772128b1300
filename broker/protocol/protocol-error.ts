/**
 * The one error that bytes of a peer can cause.
 *
 * Whatever arrives, a decoder returns a value or throws a {@link ProtocolError}; anything else that is thrown is a
 * fault of ours. The reason tells a server what to do: answer UNSUPPORTED_VERSION to an ApiVersions request (KIP-511),
 * close the connection for everything else.
 */

/** Why bytes were refused. */
type ProtocolErrorReason =
  /** The bytes are not what their header announces. */
  | 'malformed'
  /** A frame is larger than the limit, or records unpack to more than theirs. */
  | 'oversize'
  | 'unknown-api'
  | 'unsupported-version'
  | 'unsupported-compression';

/** What could be read of a request's header before the request was refused; answers need its correlation id. */
export interface RequestHeader {
  readonly apiKey: number;
  readonly apiVersion: number;
  readonly correlationId: number;
  /** Empty when the client sent null. */
  readonly clientId: string;
}

export class ProtocolError extends Error {
  readonly reason: ProtocolErrorReason;
  /** Set when a request was refused after its header had been read. */
  readonly header: RequestHeader | undefined;

  constructor(reason: ProtocolErrorReason, message: string, header?: RequestHeader) {
    super(message);
    this.name = 'ProtocolError';
    this.reason = reason;
    this.header = header;
  }
}
