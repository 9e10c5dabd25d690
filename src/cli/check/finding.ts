import type { SettingName } from '../../config/settings.ts';
import type { ProbeName } from '../../gateway/probe.ts';

/** What an operator can mend: settings of the service, or the variables of the check itself. */
export type Mendable =
  | SettingName
  | 'CHECK_TOKEN'
  | 'CHECK_EMAIL'
  | 'CHECK_PASSWORD'
  | 'NODE_EXTRA_CA_CERTS';

/** One thing that the check has found. It names settings, types and paths, and quotes no value. */
export interface Finding {
  /** A `problem` fails the check; a `warning` costs something; a `note` is good to know. */
  readonly level: 'problem' | 'warning' | 'note';
  readonly text: string;
  /** What to mend, where that is a setting. */
  readonly setting?: Mendable;
  readonly operation?: ProbeName;
}

/** A value that the gateway's answers suggest for a setting. */
export type SuggestedSettings = Partial<Record<SettingName, string>>;
