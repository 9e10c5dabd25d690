import type { Core, RequestOptions } from '../core.ts';
import { TradingGraphError } from '../errors.ts';
import type { TypedText } from '../operation.ts';
import { protocolError, signedOutError } from '../request/failures.ts';
import {
  type Acknowledged,
  type Device,
  MARK_NOTIFICATIONS_READ,
  REGISTER_DEVICE,
} from './operations.ts';

type Options = Pick<RequestOptions, 'signal' | 'timeoutMs'>;

/**
 * Push notifications. Each is sent again where its answer is lost, which does no harm, and answers with null, or with why it
 * was not done. It never rejects.
 */
export interface Notifications {
  /** After each sign-in, and with each new push token. Where nobody is signed in nothing is sent: the device would be nobody's. */
  registerDevice(device: Device, options?: Options): Promise<TradingGraphError | null>;
  /** Before the app lets go of its token: later nobody can say whose device it is. */
  disableDevice(deviceId: string, options?: Options): Promise<TradingGraphError | null>;
  markRead(ids: readonly string[], options?: Options): Promise<TradingGraphError | null>;
}

export function createNotifications({ request }: Pick<Core, 'request'>): Notifications {
  const send = async <Variables>(
    operation: TypedText<Acknowledged, Variables>,
    variables: Variables,
    options?: Options,
  ): Promise<TradingGraphError | null> => {
    const { data, errors } = await request(operation, variables, { ...options, repeats: true });
    const { __typename, error, message } = data?.done ?? {};
    if (__typename === 'Rejected') {
      const details = { code: 'REJECTED', retryable: false, extensions: { error } };
      return new TradingGraphError(message ?? 'The gateway refused it.', details);
    }
    if (errors[0] !== undefined) return errors[0];
    return __typename === 'Acknowledged'
      ? null
      : protocolError('The answer does not say that it was done.');
  };
  const register = async (enabled: boolean, device: Device, options?: Options) => {
    const error = await send(REGISTER_DEVICE, { input: { ...device, enabled } }, options);
    return error?.code === 'SIGNED_OUT' ? signedOutError(UNSIGNED[Number(enabled)]) : error;
  };
  return {
    registerDevice: (device, options) => register(true, device, options),
    disableDevice: (deviceId, options) => register(false, { deviceId }, options),
    markRead: (ids, options) => send(MARK_NOTIFICATIONS_READ, { input: { ids } }, options),
  };
}

const UNSIGNED = [
  'The device still gets notifications: it is disabled before the token goes.',
  'The device is not registered: nobody is signed in, and it would be nobody’s.',
];
