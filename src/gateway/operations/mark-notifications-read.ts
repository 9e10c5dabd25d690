import { write } from '../define-operation.ts';
import * as f from '../fields.ts';
import { acknowledged } from './acknowledged.ts';

export const NOTIFICATIONS = f.table('Notifications', { ids: f.vital(f.numbers) });

export const markNotificationsRead = write({
  name: 'markNotificationsRead',
  number: 14,
  isIdempotent: true,
  errors: 'plain',
  calls: { mark: acknowledged('PUT', '/user/notifications/mark-read', NOTIFICATIONS) },
  run: (calls, input: f.SentBy<typeof NOTIFICATIONS.fields>) =>
    calls.acknowledged('mark', { body: NOTIFICATIONS.toWire(input) }),
});
