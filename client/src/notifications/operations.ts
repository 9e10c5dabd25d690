export const REGISTER_DEVICE =
  'mutation RegisterDevice($input: RegisterDeviceInput!) { done: registerDevice(input: $input) { __typename ... on Refusal { error message } } }';

export const MARK_NOTIFICATIONS_READ =
  'mutation MarkNotificationsRead($input: MarkNotificationsReadInput!) { done: markNotificationsRead(input: $input) { __typename ... on Refusal { error message } } }';
