import type { SettingName } from '../../config/settings.ts';
import type { ReadName } from '../../gateway/operations.ts';

/** The operations that are checked: those that change nothing, and the sign-in. */
export type CheckedName = ReadName | 'login';

/** The variables that an operator can correct: the service's settings, or those of the check itself. */
type Correctable = SettingName | 'CHECK_TOKEN' | 'CHECK_PASSWORD' | 'NODE_EXTRA_CA_CERTS';

/** One result of the check. It names settings, types and paths, and quotes no value. */
export interface Finding {
  /** A `problem` fails the check; a `warning` has a cost; a `note` is information. */
  readonly level: 'problem' | 'warning' | 'note';
  readonly text: string;
  /** The setting to correct, if there is one. */
  readonly setting?: Correctable;
  readonly operation?: CheckedName;
}

/** A value that the gateway's answers suggest for a setting. */
export type SuggestedSettings = Partial<Record<SettingName, string>>;
