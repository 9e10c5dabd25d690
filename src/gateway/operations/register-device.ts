import { write } from '../define-operation.ts';
import * as f from '../fields.ts';
import { acknowledged } from './acknowledged.ts';

export const DEVICE = f.table('Device', {
  deviceId: f.vital(f.filled),
  token: f.unneeded(f.text),
  platform: f.unneeded(f.word('ios', 'android', 'web', 'windows', 'macos')),
  enabled: f.unneeded(f.flag),
});

export const registerDevice = write({
  name: 'registerDevice',
  number: 15,
  isIdempotent: true,
  errors: 'plain',
  calls: { register: acknowledged('POST', '/user/notifications/v2/token', DEVICE) },
  run: (calls, input: f.SentBy<typeof DEVICE.fields>) =>
    calls.acknowledged('register', { body: DEVICE.toWire(input) }),
});
