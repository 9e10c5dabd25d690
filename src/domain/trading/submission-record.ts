import type { RecordedOutcome } from '../../store/order-records.ts';
import type { Submission } from './outcome.ts';

/** A submission as its record stores it. */
export function toRecorded(submission: Submission): RecordedOutcome {
  const { message } = submission;
  switch (submission.outcome) {
    case 'accepted':
      return { kind: 'accepted', orderId: submission.orderId, message };
    case 'rejected':
      return { kind: 'rejected', error: submission.error, message };
    case 'unknown':
      return { kind: 'unknown', sentAtMs: submission.sentAt.getTime(), message };
  }
}

export function toSubmission(recorded: RecordedOutcome): Submission {
  const { message } = recorded;
  switch (recorded.kind) {
    case 'accepted':
      return { outcome: 'accepted', orderId: recorded.orderId, message };
    case 'rejected':
      return { outcome: 'rejected', error: recorded.error, message };
    case 'unknown':
      return { outcome: 'unknown', sentAt: new Date(recorded.sentAtMs), message };
  }
}
