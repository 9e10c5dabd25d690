import type { TypedText } from '../operation.ts';
import type { Device } from './notifications.ts';

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
