/**
 * Frames: Kafka puts an int32 size before every message on a connection.
 *
 * The splitter buffers what has arrived of one frame, at most `maxFrameBytes`; a frame that lies within one chunk is a
 * view of it.
 */
import { ProtocolError } from './protocol-error.ts';

/** `socket.request.max.bytes` of Kafka. */
const defaultMaxFrameBytes = 100 * 1024 * 1024;

const sizeBytes = 4;

/** The message with its size before it. */
export function frame(payload: Uint8Array): Uint8Array {
  const framed = new Uint8Array(sizeBytes + payload.length);
  framed.set(sizePrefix(payload));
  framed.set(payload, sizeBytes);
  return framed;
}

/** Only the size, for a driver that writes both in one go and saves the copy. */
export function sizePrefix(payload: Uint8Array): Uint8Array {
  const prefix = new Uint8Array(sizeBytes);
  new DataView(prefix.buffer).setInt32(0, payload.length);
  return prefix;
}

/** Cuts a stream of bytes into frames. */
export class FrameSplitter {
  readonly #maxFrameBytes: number;
  #chunks: Uint8Array[] = [];
  #bufferedBytes = 0;
  /** Size of the frame that is arriving, once its prefix is here. */
  #frameBytes: number | undefined;
  #refused: ProtocolError | undefined;

  constructor(maxFrameBytes = defaultMaxFrameBytes) {
    this.#maxFrameBytes = maxFrameBytes;
  }

  /** Bytes of a frame that has not arrived as a whole. */
  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  /** Takes the next bytes of the stream; returns the frames that they complete, without their sizes. */
  push(chunk: Uint8Array): Uint8Array[] {
    if (this.#refused !== undefined) throw this.#refused;
    this.#chunks.push(chunk);
    this.#bufferedBytes += chunk.length;
    const frames: Uint8Array[] = [];
    for (let next = this.#next(); next !== undefined; next = this.#next()) frames.push(next);
    return frames;
  }

  #next(): Uint8Array | undefined {
    if (this.#frameBytes === undefined) {
      if (this.#bufferedBytes < sizeBytes) return undefined;
      this.#frameBytes = this.#checkedSize(this.#take(sizeBytes));
    }
    if (this.#bufferedBytes < this.#frameBytes) return undefined;
    const complete = this.#take(this.#frameBytes);
    this.#frameBytes = undefined;
    return complete;
  }

  #checkedSize(prefix: Uint8Array): number {
    const size = new DataView(prefix.buffer, prefix.byteOffset, sizeBytes).getInt32(0);
    if (size >= 0 && size <= this.#maxFrameBytes) return size;
    this.#chunks = [];
    this.#refused =
      size < 0
        ? new ProtocolError('malformed', `a frame of ${size} bytes`)
        : new ProtocolError('oversize', `a frame of ${size} bytes, at most ${this.#maxFrameBytes} are accepted`);
    throw this.#refused;
  }

  /** The next `count` buffered bytes: a view where one chunk holds them all, else a copy. */
  #take(count: number): Uint8Array {
    this.#bufferedBytes -= count;
    const head = this.#chunks[0];
    if (head !== undefined && head.length > count) {
      this.#chunks[0] = head.subarray(count);
      return head.subarray(0, count);
    }
    if (head !== undefined && head.length === count) return this.#chunks.shift()!;
    return this.#join(count);
  }

  #join(count: number): Uint8Array {
    const joined = new Uint8Array(count);
    let filled = 0;
    let used = 0;
    while (filled < count) {
      const part = this.#chunks[used]!.subarray(0, count - filled);
      joined.set(part, filled);
      filled += part.length;
      if (part.length < this.#chunks[used]!.length) this.#chunks[used] = this.#chunks[used]!.subarray(part.length);
      else used++;
    }
    this.#chunks.splice(0, used);
    return joined;
  }
}
