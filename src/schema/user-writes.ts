import type { WriteOperation } from '../gateway/define-operation.ts';
import type { GatewayRefusal } from '../gateway/gateway-error.ts';
import type { Acknowledgement } from '../gateway/judge.ts';
import { getCustomerId } from '../gateway/operations/get-customer-id.ts';
import {
  getWithdrawalMethods,
  type WithdrawalMethod,
} from '../gateway/operations/get-withdrawal-methods.ts';
import { OPERATIONS, type OperationName } from '../gateway/operations.ts';
import { isExactNumber } from '../lib/json.ts';
import { clientOf } from '../lib/limits/request-caller.ts';
import { InputError } from '../lib/public-error.ts';
import { answerOf, builder, exposed, exposedOf } from './builder.ts';
import type { Context } from './context.ts';

export const WithdrawalMethodRef = builder
  .objectRef<WithdrawalMethod>('WithdrawalMethod')
  .implement({
    description: 'A saved withdrawal method. Its texts are the gateway’s own.',
    fields: (t) =>
      exposed(t, {
        ID: { id: 'The method’s number.' },
        'Int!': {
          group:
            'The index of the gateway’s list that it belongs to, from 0. The gateway does not document these lists.',
        },
        String: {
          title: 'The display title.',
          icon: 'Its icon.',
          type: 'Its kind.',
          crmType: 'Its kind in the customer-management system.',
          status: 'Its status.',
          subtitle: 'The line below the title.',
        },
      }),
  });

builder.queryFields((t) => ({
  withdrawalMethods: t.field({
    ...answerOf(getWithdrawalMethods),
    type: [WithdrawalMethodRef],
    description: 'The saved withdrawal methods, as one list.',
  }),
  customerId: t.id({
    ...answerOf(getCustomerId),
    description: 'The customer’s id in the payment system.',
  }),
}));

/** The interface has no resolvers, because each type keeps the gateway's messages in a different property. */
export const RefusalRef = builder.interfaceRef<object>('Refusal').implement({
  description: 'The common fields of refusals, in the gateway’s own words.',
  fields: (t) => ({
    error: t.string({ nullable: true, description: 'The gateway’s name for the reason.' }),
    message: t.string({ nullable: true, description: 'The gateway’s message.' }),
  }),
});

const AcknowledgedRef = builder.objectRef<{ outcome: 'acknowledged' }>('Acknowledged').implement({
  description: 'The gateway has carried out the request.',
  fields: (t) => ({
    success: t.boolean({
      nullable: false,
      description: 'Always true: a failure is never acknowledged.',
      resolve: () => true,
    }),
    withdrawalMethods: t.field({
      ...answerOf(getWithdrawalMethods),
      type: [WithdrawalMethodRef],
      description: 'The saved withdrawal methods, read after the write in the same round-trip.',
    }),
  }),
});

const RejectedRef = builder
  .objectRef<{ outcome: 'rejected'; refusal: GatewayRefusal }>('Rejected')
  .implement({
    description: 'The gateway refused the request, in its own words.',
    interfaces: [RefusalRef],
    fields: (t) =>
      exposedOf(t, ({ refusal }) => refusal, {
        String: {
          error: 'The gateway’s name for the reason.',
          message: 'The gateway’s message.',
        },
        JSON: { details: 'Further details from the gateway.' },
      }),
  });

export const AcknowledgeResult = builder.unionType('AcknowledgeResult', {
  description:
    'Done or refused. If the outcome is unknown, the field has the error `OUTCOME_UNKNOWN` instead.',
  types: [AcknowledgedRef, RejectedRef],
  resolveType: ({ outcome }: Acknowledgement) =>
    outcome === 'acknowledged' ? 'Acknowledged' : 'Rejected',
});

export function acknowledged(description: string) {
  return { type: AcknowledgeResult, nullable: true, description } as const;
}

export function needed<Type>(type: Type, description: string) {
  return { type, required: true, description } as const;
}

const DevicePlatform = builder.enumType('DevicePlatform', {
  description: 'The platform of a device.',
  values: {
    IOS: { value: 'ios', description: 'iOS or iPadOS.' },
    ANDROID: { value: 'android', description: 'Android.' },
    WEB: { value: 'web', description: 'A browser.' },
    WINDOWS: { value: 'windows', description: 'Windows.' },
    MACOS: { value: 'macos', description: 'macOS.' },
  },
});

const ResetTradingAccountPasswordInput = builder.inputType('ResetTradingAccountPasswordInput', {
  description: 'The trading account that gets a new password.',
  fields: (t) => ({
    accountExternalId: t.string({ required: true, description: 'The account’s external id.' }),
  }),
});

const AddCryptoWalletInput = builder.inputType('AddCryptoWalletInput', {
  description: 'A crypto wallet for withdrawals.',
  fields: (t) => ({ address: t.string({ required: true, description: 'The wallet’s address.' }) }),
});

const AddMobileWalletInput = builder.inputType('AddMobileWalletInput', {
  description: 'A mobile wallet for withdrawals.',
  fields: (t) => ({
    phone: t.string({ required: true, description: 'The wallet’s phone number.' }),
  }),
});

const SetValueInput = builder.inputType('SetValueInput', {
  description: 'A value to store for the user.',
  fields: (t) => ({
    key: t.string({ required: true, description: 'Its name.' }),
    value: t.field({ type: 'JSON', description: 'Any JSON; null by default.' }),
  }),
});

const MarkNotificationsReadInput = builder.inputType('MarkNotificationsReadInput', {
  description: 'The notifications that were read.',
  fields: (t) => ({ ids: t.idList({ required: true, description: 'Their numbers.' }) }),
});

const RegisterDeviceInput = builder.inputType('RegisterDeviceInput', {
  description: 'A device for push notifications.',
  fields: (t) => ({
    deviceId: t.string({ required: true, description: 'The device’s own id.' }),
    token: t.string({ description: 'Its push token.' }),
    platform: t.field({ type: DevicePlatform, description: 'Its platform.' }),
    enabled: t.boolean({ description: 'Whether it receives notifications.' }),
  }),
});

builder.mutationFields((t) => ({
  resetTradingAccountPassword: t.field({
    ...acknowledged('Resets the password of a trading account.'),
    args: { input: t.arg(needed(ResetTradingAccountPasswordInput, 'The account.')) },
    resolve: (_root, { input }, context) =>
      write(context, OPERATIONS.resetTradingAccountPassword, { account: input.accountExternalId }),
  }),
  addCryptoWallet: t.field({
    ...acknowledged('Registers a crypto wallet for withdrawals.'),
    args: { input: t.arg(needed(AddCryptoWalletInput, 'The wallet.')) },
    resolve: (_root, { input }, context) => write(context, OPERATIONS.addCryptoWallet, input),
  }),
  addMobileWallet: t.field({
    ...acknowledged('Registers a mobile wallet for withdrawals.'),
    args: { input: t.arg(needed(AddMobileWalletInput, 'The wallet.')) },
    resolve: (_root, { input }, context) => write(context, OPERATIONS.addMobileWallet, input),
  }),
  setValue: t.field({
    ...acknowledged('Stores a value for the user under a key. Repeating it does no harm.'),
    args: { input: t.arg(needed(SetValueInput, 'Key and value.')) },
    resolve: (_root, { input }, context) => {
      const { key, value = null } = input;
      notEmpty('input.key', key);
      return write(context, OPERATIONS.setValue, { key, value });
    },
  }),
  markNotificationsRead: t.field({
    ...acknowledged('Marks notifications as read. Repeating it does no harm.'),
    args: { input: t.arg(needed(MarkNotificationsReadInput, 'The notifications.')) },
    resolve: (_root, { input }, context) => {
      const ids = toNotificationIds(input.ids);
      return write(context, OPERATIONS.markNotificationsRead, { ids });
    },
  }),
  registerDevice: t.field({
    ...acknowledged(
      'Registers or updates a device for push notifications. Repeating it does no harm.',
    ),
    args: { input: t.arg(needed(RegisterDeviceInput, 'The device.')) },
    resolve: (_root, { input }, context) => {
      notEmpty('input.deviceId', input.deviceId);
      const { deviceId, token, platform, enabled } = input;
      const device = {
        deviceId,
        ...(token != null && { token }),
        ...(platform != null && { platform }),
        ...(enabled != null && { enabled }),
      };
      return write(context, OPERATIONS.registerDevice, device);
    },
  }),
}));

/** It is not documented whether ops 14 and 15 need a token. A token is sent if the request has one. */
const ANONYMOUS: ReadonlySet<OperationName> = new Set(['markNotificationsRead', 'registerDevice']);

function write<Input>(
  context: Context,
  operation: WriteOperation<Input, Acknowledgement> & { readonly name: OperationName },
  given: Input,
): Promise<Acknowledgement> {
  const { client, gateway, writeLimits } = context.services;
  // Uses the scope of this write: the former scope may have the token of a new login.
  return context.write(async (scope) => {
    const isAnonymous = ANONYMOUS.has(operation.name) && scope.caller.token === null;
    const viewer = isAnonymous ? null : await scope.viewer();
    const caller = viewer ?? scope.caller;
    return writeLimits.write(clientOf(caller), operation.name, () =>
      viewer === null
        ? client.write(caller, operation, given)
        : gateway.write(viewer, operation, given),
    );
  });
}

function notEmpty(argument: string, value: string): void {
  if (value === '') throw new InputError(argument, `${argument} must not be empty.`);
}

/** The gateway accepts only numbers. An id beyond 2^53 would be rounded to another id. */
function toNotificationIds(ids: readonly string[]): readonly number[] {
  return ids.map((id) => {
    const number = /^-?\d{1,16}$/.test(id) ? Number(id) : Number.NaN;
    const isExact = Math.abs(number) <= 2 ** 53 && isExactNumber(id);
    if (!isExact) {
      throw new InputError('input.ids', 'input.ids must be whole numbers within ±2^53.');
    }
    return number;
  });
}
