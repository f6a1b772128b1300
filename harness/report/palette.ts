/**
 * The colours of leader epochs: light tints that carry dark text, told apart by colour-blind eyes, neighbours far apart.
 *
 * Colour never carries meaning alone: the epoch is always written beside it. The list repeats after eight epochs.
 */
const tints = ['#7cc4f0', '#f3b54a', '#5fcfa8', '#e4a3cd', '#eee06a', '#f2946e', '#a9b4f2', '#c3c7cc'] as const;

export function epochColour(epoch: number): string {
  return tints[((epoch % tints.length) + tints.length) % tints.length] ?? '#c3c7cc';
}

/** Room for a text in pixels, rather too much than too little: the font is the reader's. `size` is that of the font. */
export function textWidth(text: string, size: number): number {
  return text.length * size * 0.62;
}
