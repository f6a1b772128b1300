/** Bytes as readable hexadecimal text: spaces part the fields and mean nothing. */

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

export function unspaced(text: string): string {
  return text.replaceAll(/\s/g, '');
}

export function fromHex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(unspaced(text), 'hex'));
}
