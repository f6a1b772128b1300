/**
 * What came from a port where Kafka's protocol was expected and something else is spoken, in words.
 *
 * A broker that is coming up refuses connections or keeps silent; one that answers with other bytes will never do
 * better. So after a few such answers nobody waits any longer, and what was heard is told with what it may mean.
 *
 * Invariant: bytes of a stranger become printable text, bounded in length.
 */

/** So often in a row something else may be heard, in case somebody else's program is just leaving the port. */
export const strangeAnswersMax = 5;

const shownMax = 48;

/** The first bytes: as text where they are text, else in hexadecimal. */
export function heardInWords(bytes: Uint8Array): string {
  const first = bytes.subarray(0, shownMax);
  const more = bytes.length > shownMax ? ' …' : '';
  const isText = first.every(
    (byte) => (byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d || byte === 0x09,
  );
  if (isText) return `${JSON.stringify(Buffer.from(first).toString('latin1'))}${more}`;
  const hex = [...first].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
  return `the bytes ${hex}${more}${isTls(first) ? ' (TLS)' : ''}`;
}

/** One line: who, what was heard, and the remedy. */
export function strangeAnswer(who: string, where: string, heard: string): string {
  return `${who} does not speak Kafka's protocol at ${where}: asked ${strangeAnswersMax} times, it answered ${heard}; see to it that this port is a Kafka listener without TLS (PLAINTEXT)`;
}

/** An alert or a handshake, of any version since SSL 3. */
function isTls([type, version]: Uint8Array): boolean {
  return (type === 0x15 || type === 0x16) && version === 0x03;
}
