/** The bounds of a server, in one place. Whoever goes beyond one of them loses its connection, never the node. */
export const limits = {
  /** Largest request or response, without its size prefix (`socket.request.max.bytes`, there 100 MB). */
  frameBytes: 32 * 1024 * 1024,
  /** Connections of requesters; more are closed at once (`max.connections`). */
  connections: 1024,
  /** Frames of one connection that wait for their turn; then its socket is not read. */
  queuedFrames: 32,
  /** Bytes of all connections together that have arrived and wait; beyond it the one that holds most is closed. A pod has 512 MB. */
  heldBytes: 64 * 1024 * 1024,
  /** Bytes to one peer, or one requester, that its socket has not taken yet. */
  unsentBytes: 64 * 1024 * 1024,
  /**
   * How many broker sessions a controlled shutdown may take before the node ends without having handed over; the core
   * gives up after two.
   */
  controlledShutdownSessions: 3,
  /** Silence after which the system asks whether the other end is still there. */
  keepAliveMs: 10_000,
} as const;
