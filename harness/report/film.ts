/**
 * The film of one partition: still pictures of all its replicas, as data.
 *
 * The trace is replayed twice. The first time (`survey.ts`) finds out what is worth a picture and what became of each
 * record in the end. The second time (`camera.ts`) takes the pictures, just before and just after, so that a record that
 * will be lost can be marked while it is still there.
 *
 * Left out: how a picture is drawn (`lanes-svg.ts`), and any verdict: records are marked as lost or diverging only
 * where the checker found a loss or a divergence.
 */
import { Camera } from './camera.ts';
import { createOffsetAxis } from './offset-axis.ts';
import type { Film, FilmRequest, Still } from './picture.ts';
import { Replicas } from './replicas.ts';
import { surveyOf, type Survey } from './survey.ts';

const COLUMNS_MAX = 13;

/** Takes the pictures. */
export function makeFilm(request: FilmRequest): Film {
  const events = request.trace;
  const survey = surveyOf(request, events);
  const axis = createOffsetAxis(pointsOf(request, survey), COLUMNS_MAX);
  const camera = new Camera(request, survey, axis);
  const replicas = new Replicas();
  for (const event of events) {
    camera.before(event, replicas);
    replicas.apply(event);
    camera.after(event, replicas);
  }
  camera.end(replicas, events.findLast(({ partition }) => partition !== null)?.time ?? null);
  const shown = new Set(camera.acts.flatMap(({ stills }) => stills.flatMap(epochsOf)));
  const epochs = [...shown]
    .sort((a, b) => a - b)
    .map((epoch) => ({ epoch, leader: survey.leaders.get(epoch) ?? null }));
  return { key: request.key, acts: camera.acts, axis, epochs, omitted: survey.omitted };
}

function pointsOf(request: FilmRequest, survey: Survey): number[] {
  const cuts = [...survey.truncations].flatMap((event) =>
    event.event === 'truncation' ? [event.to, event.from - 1, event.to - 1] : [],
  );
  return [...survey.focus.slice(0, 5), ...cuts, ...survey.focus.slice(5, 10), ...request.focus.slice(-1)];
}

function epochsOf(still: Still): number[] {
  return still.lanes.flatMap((lane) => {
    const records = [...lane.cells, ...lane.ghosts].flatMap((cell) => (cell === null ? [] : [cell.epoch]));
    return lane.role === 'leader' ? [...records, lane.leaderEpoch] : records;
  });
}
