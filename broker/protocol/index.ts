/**
 * The wire protocol of Kafka, as far as a broker and its clients need it here: the whole surface of this folder.
 *
 * One table per API (`apis/`) yields encoder, decoder and types; `records.ts` holds what is stored as it travels.
 */
export { apis } from './apis/index.ts';
export type { ApiName, RequestBody, ResponseBody } from './apis/index.ts';
export {
  advertisedVersions,
  apiByKey,
  decodeRequest,
  decodeRequestHeader,
  decodeResponse,
  encodeRequest,
  encodeResponse,
  isSpoken,
  messageText,
  servedVersions,
  unsupportedApiVersions,
} from './messages.ts';
export { carriedRequest, carriedResponse } from './carried.ts';
export { frame, FrameSplitter, sizePrefix } from './frame.ts';
export { ProtocolError } from './protocol-error.ts';
export type { RequestHeader } from './protocol-error.ts';
export { ErrorCode, errorName, isMetadataStale, isRetriable } from './errors.ts';
export type { ErrorName } from './errors.ts';
export { crc32c } from './crc32c.ts';
export { parseRecordSet, placedBatch, stampBatch, stampBatches } from './records.ts';
export type { BatchInfo, LogRange, RecordSet } from './records.ts';
export { decodeRecords, encodeBatch, encodeRecordSet } from './record-codec.ts';
export type { DecodedRecord } from './record-codec.ts';
export { decodeMessageSet, encodeMessageSet } from './message-set.ts';
export type { Unpackers } from './compression.ts';
