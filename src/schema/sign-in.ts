import { TooManyAttemptsError } from '../domain/auth/trading-limits.ts';
import { getCustomerId } from '../gateway/operations/get-customer-id.ts';
import { getWithdrawalMethods } from '../gateway/operations/get-withdrawal-methods.ts';
import type { SignIn } from '../gateway/operations/login.ts';
import { OPERATIONS } from '../gateway/operations.ts';
import { traits } from '../lib/field-traits.ts';
import { answerOf, builder, exposedOf, ownRead } from './builder.ts';
import { OrderRef, PositionRef } from './holding.ts';
import { CatalogRef } from './instrument-list.ts';
import type { Scope } from './scope.ts';
import { SessionRef } from './session.ts';
import { AcknowledgeResult, needed, RefusalRef, WithdrawalMethodRef } from './user-writes.ts';

type SignInAs<Outcome> = Extract<SignIn, { outcome: Outcome }>;

const LoginSuccessRef = builder.objectRef<SignInAs<'granted'>>('LoginSuccess').implement({
  description: 'Signed in. Send `accessToken` as `Authorization: Bearer …` from now on.',
  fields: (t) => ({
    ...exposedOf(t, ({ grant }) => grant, {
      'String!': { accessToken: 'The token to send with each request.' },
      String: { refreshToken: 'The gateway’s refresh token.' },
      Boolean: { passkey: 'Passed through. The gateway does not document it.' },
    }),
    session: t.field({
      ...ownRead('session', (scope) => scope.session()),
      type: SessionRef,
      description: 'The account’s snapshot, read with the new token in the same round-trip.',
    }),
    catalog: t.field({
      type: CatalogRef,
      nullable: true,
      description: 'The catalog of the account’s group, read with the new token.',
      resolve: (_grant, _args, { scope }) => scope.catalog(),
    }),
    positions: t.field({
      ...ownRead('positions', (scope) => scope.positions()),
      type: [PositionRef],
      description: 'The open positions, read with the new token.',
    }),
    orders: t.field({
      ...ownRead('orders', (scope) => scope.orders()),
      type: [OrderRef],
      description: 'The pending orders, read with the new token.',
    }),
    withdrawalMethods: t.field({
      ...answerOf(getWithdrawalMethods),
      type: [WithdrawalMethodRef],
      description: 'The saved withdrawal methods, read with the new token.',
    }),
    customerId: t.id({
      ...answerOf(getCustomerId),
      description: 'The customer’s id in the payment system, read with the new token.',
    }),
  }),
});

const LoginRejectedRef = builder.objectRef<SignInAs<'rejected'>>('LoginRejected').implement({
  description: 'The gateway refused to sign in, in its own words.',
  interfaces: [RefusalRef],
  fields: (t) =>
    exposedOf(t, ({ refusal }) => refusal, {
      String: {
        error: 'The gateway’s name for the reason.',
        message: 'The gateway’s message.',
        email: 'The e-mail address that the gateway named.',
      },
      JSON: { details: 'Further details from the gateway.' },
    }),
});

const LoginResult = builder.unionType('LoginResult', {
  description: 'Signed in, or not.',
  types: [LoginSuccessRef, LoginRejectedRef],
  resolveType: ({ outcome }: SignIn) => (outcome === 'granted' ? 'LoginSuccess' : 'LoginRejected'),
});

const LoginInput = builder.inputType('LoginInput', {
  description: 'An e-mail address and its password.',
  fields: (t) => ({
    email: t.string({ required: true, description: 'The e-mail address.' }),
    password: t.string({ required: true, description: 'The password.' }),
  }),
});

const ForgotPasswordInput = builder.inputType('ForgotPasswordInput', {
  description: 'The account whose password is to be reset.',
  fields: (t) => ({ email: t.string({ required: true, description: 'The e-mail address.' }) }),
});

builder.mutationFields((t) => ({
  login: t.field({
    // Each login is an attempt to guess a password.
    ...traits({ mostSelected: 1 }),
    type: LoginResult,
    nullable: true,
    description:
      'Signs in. A token in the request is ignored. At most one `login` in an operation.',
    args: { input: t.arg(needed(LoginInput, 'The credentials.')) },
    resolve: async (_root, { input }, context, { path }) => {
      const { client, writeLimits, onSignIn } = context.services;
      const { email, password } = input;
      const send = ({ caller }: Scope) =>
        writeLimits.login(caller, email, () =>
          client.write(caller, OPERATIONS.login, { email, password }),
        );
      const signIn = context.write(send, String(path.key));
      const result = await signIn.catch((error: unknown) => {
        onSignIn(error instanceof TooManyAttemptsError ? 'limited' : 'failed');
        throw error;
      });
      onSignIn(result.outcome);
      if (result.outcome === 'granted') context.actAs(result.grant.accessToken);
      return result;
    },
  }),
  forgotPassword: t.field({
    // Each request sends a mail.
    ...traits({ mostSelected: 1 }),
    type: AcknowledgeResult,
    nullable: true,
    description:
      'Starts the reset of a password. A token in the request is ignored. At most one `forgotPassword` in an operation.',
    args: {
      input: t.arg(needed(ForgotPasswordInput, 'The account whose password is to be reset.')),
    },
    resolve: (_root, { input }, context) => {
      const { client, writeLimits } = context.services;
      return context.write(({ caller }) =>
        writeLimits.forgotPassword(caller, input.email, () =>
          client.write(caller, OPERATIONS.forgotPassword, input),
        ),
      );
    },
  }),
}));
