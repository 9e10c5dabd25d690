import type { TypedText } from '../operation.ts';

/** A device that notifications are sent to. */
export interface Device {
  /** The same for as long as the app is installed. */
  readonly deviceId: string;
  readonly platform?: 'ANDROID' | 'IOS' | 'MACOS' | 'WEB' | 'WINDOWS';
  /** The token by which the platform's push service reaches it. */
  readonly token?: string;
}

export interface Acknowledged {
  readonly done: {
    readonly __typename: string;
    readonly error?: string | null;
    readonly message?: string | null;
  } | null;
}

export const REGISTER_DEVICE: TypedText<
  Acknowledged,
  { input: Device & { readonly enabled: boolean } }
> =
  'mutation RegisterDevice($input: RegisterDeviceInput!) { done: registerDevice(input: $input) { __typename ... on Refusal { error message } } }';

export const MARK_NOTIFICATIONS_READ: TypedText<
  Acknowledged,
  { input: { readonly ids: readonly string[] } }
> =
  'mutation MarkNotificationsRead($input: MarkNotificationsReadInput!) { done: markNotificationsRead(input: $input) { __typename ... on Refusal { error message } } }';
