import type { SettingName } from '../../config/settings.ts';
import type { ProbeName } from './probe.ts';

/** The variables that an operator can correct: the service's settings, or those of the check itself. */
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
  /** The setting to correct, where there is one. */
  readonly setting?: Mendable;
  readonly operation?: ProbeName;
  /** Set where it may pass by itself: the gateway does not answer for now, or is overloaded. */
  readonly mayPass?: true;
}

/** A value that the gateway's answers suggest for a setting. */
export type SuggestedSettings = Partial<Record<SettingName, string>>;
