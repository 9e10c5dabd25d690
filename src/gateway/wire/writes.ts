import type { OperationName } from '../operations.ts';
import type { RequestDetails } from '../request-templates.ts';

/** The bodies of the writes that are neither orders nor logins: most inputs are the body as they are. */
export const WRITES = {
  forgotPassword: (body: { readonly email: string }) => ({ body }),
  resetTradingAccountPassword: ({ accountExternalId }: { readonly accountExternalId: string }) => ({
    body: { account_external_id: accountExternalId },
  }),
  addCryptoWallet: (body: { readonly address: string }) => ({ body }),
  addMobileWallet: (body: { readonly phone: string }) => ({ body }),
  setValue: ({ key, value }: { readonly key: string; readonly value: unknown }) => ({
    path: { key },
    body: { value },
  }),
  markNotificationsRead: (body: { readonly ids: readonly number[] }) => ({ body }),
  registerDevice: (body: {
    readonly deviceId: string;
    readonly token?: string;
    readonly platform?: string;
    readonly enabled?: boolean;
  }) => ({ body }),
} satisfies { readonly [Name in OperationName]?: (input: never) => RequestDetails };

export type WriteName = keyof typeof WRITES;
export type WriteInput<Name extends WriteName> = Parameters<(typeof WRITES)[Name]>[0];
