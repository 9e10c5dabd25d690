import type { RequestOptions } from './core.ts';
import { TradingGraphError } from './errors.ts';
import { MARK_NOTIFICATIONS_READ, REGISTER_DEVICE } from './notifications/operations.ts';
import type { TypedText } from './operation.ts';
import type { RequestsClient } from './own-methods.ts';
import { protocolError, signedOutError } from './request/failures.ts';

/** A device that notifications are sent to. */
export interface Device {
  /** The same for as long as the app is installed. */
  readonly deviceId: string;
  readonly platform?: 'ANDROID' | 'IOS' | 'MACOS' | 'WEB' | 'WINDOWS' | undefined;
  /** The token by which the platform's push service reaches it. */
  readonly token?: string | undefined;
}

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

/** Push notifications to this device, over any client. */
export function notifications({ mutate }: Pick<RequestsClient, 'mutate'>): Notifications {
  const send = async (
    operation: TypedText<Acknowledged, { input: object }>,
    input: object,
    options?: Options,
  ): Promise<TradingGraphError | null> => {
    const { data, errors } = await mutate(operation, { input }, { ...options, repeats: true });
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
    const error = await send(REGISTER_DEVICE, { ...device, enabled }, options);
    return error?.code === 'SIGNED_OUT' ? signedOutError(UNSIGNED[Number(enabled)]) : error;
  };
  return {
    registerDevice: (device, options) => register(true, device, options),
    disableDevice: (deviceId, options) => register(false, { deviceId }, options),
    markRead: (ids, options) => send(MARK_NOTIFICATIONS_READ, { ids }, options),
  };
}

interface Acknowledged {
  readonly done: {
    readonly __typename: string;
    readonly error?: string | null | undefined;
    readonly message?: string | null | undefined;
  } | null;
}

const UNSIGNED = [
  'The device still gets notifications: it is disabled before the token goes.',
  'The device is not registered: nobody is signed in, and it would be nobody’s.',
];
