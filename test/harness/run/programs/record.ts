/** Records operations as fast as it can until it is killed. Arguments: the history to write. */
import { createRecorder } from '../../../../harness/run/recorder.ts';

const recorder = createRecorder(process.argv[2] ?? '', process.hrtime.bigint());
for (let value = 1; ; value += 1) {
  recorder.invoke(0, { f: 'send', key: 'tide-0', value }, 'all');
  recorder.complete(0, { type: 'ok', f: 'send', value: [['send', 'tide-0', [value, value]]], acks: 'all' });
}
