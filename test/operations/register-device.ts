import { OPERATIONS } from '../../src/gateway/operations.ts';
import { write } from './operation-case.ts';

export const registerDevice = write(
  OPERATIONS.registerDevice,
  { deviceId: 'd', token: 't', platform: 'macos', enabled: false },
  {
    fields: 'deviceId: "d", token: "t", platform: MACOS, enabled: false',
    errors: 'plain',
    statuses: [400, 400],
  },
);
