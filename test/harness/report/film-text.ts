/**
 * A film as text, so that golden files can hold it and a reviewer can read it.
 *
 * One line per lane: role, HW, LEO and the cells. A cell is `value/epoch`, followed by `+` once acknowledged, `x` if it
 * will be lost, `!` if another replica holds another record there in the end, `(…)` for what was there and is gone.
 */
import type { Column } from '../../../harness/report/offset-axis.ts';
import type { Film, Lane, LaneCell, Still } from '../../../harness/report/picture.ts';

export function filmText(film: Film): string {
  const lines = [
    `film of ${film.key}`,
    `epochs ${film.epochs.map(({ epoch, leader }) => `${epoch}: broker ${leader}`).join(', ')}`,
  ];
  for (const act of film.acts) {
    lines.push('', `${act.number}. ${act.title}${act.detail === '' ? '' : ` (${act.detail})`}`);
    for (const still of act.stills) lines.push(...stillLines(film, still));
  }
  if (film.omitted > 0) lines.push('', `${film.omitted} other truncations`);
  return `${lines.join('\n')}\n`;
}

function stillLines(film: Film, still: Still): string[] {
  const { columns } = film.axis;
  const head = `${`   ${still.when}`.padEnd(38)}${columns.map((column) => (column.kind === 'gap' ? '…' : String(column.offset)).padEnd(13)).join('')}`;
  return [head.trimEnd(), ...still.lanes.map((lane) => laneLine(lane, columns, still))];
}

function laneLine(lane: Lane, columns: readonly Column[], still: Still): string {
  const who = `   ${lane.node} ${lane.role} e${lane.leaderEpoch}${lane.inIsr ? '' : ' (out)'}`.padEnd(24);
  const ends = `HW ${lane.hw} LEO ${lane.leo}`.padEnd(14);
  const cells = columns.map((_, index) => cellText(lane.cells[index] ?? null, lane.ghosts[index] ?? null).padEnd(13));
  const cut = still.cut?.node === lane.node ? `  ← ${still.cut.rule}: ${still.cut.from} to ${still.cut.to}` : '';
  return `${who}${ends}${cells.join('')}`.trimEnd() + cut;
}

function cellText(cell: LaneCell | null, ghost: LaneCell | null): string {
  const gone = ghost === null ? '' : `(${ghost.value ?? '?'}/${ghost.epoch})`;
  if (cell === null) return gone;
  const marks = `${cell.acknowledged ? '+' : ''}${cell.lost ? 'x' : ''}${cell.diverged ? '!' : ''}`;
  return `${cell.value ?? '?'}/${cell.epoch}${marks}${gone}`;
}
