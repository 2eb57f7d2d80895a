import { Injectable } from '@nestjs/common';
import type { UserId } from 'nestjs-session-auth';

/** Prints emails. A real application would read the address of the user, and send them. */
@Injectable()
export class Mailer {
  send(userId: UserId, subject: string, text: string): Promise<void> {
    process.stdout.write(`Email to user ${userId}: ${subject}. ${text}\n`);
    return Promise.resolve();
  }
}
