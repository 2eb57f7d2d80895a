import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  readonly to: readonly string[];
  readonly subject: string;
  readonly source: string;
  /** The text after `#sign-up=` or `#password-reset=`. */
  readonly token: string;
}

/** An SMTP server that stores the emails it receives. */
export class TestSmtpServer {
  readonly received: ReceivedMail[] = [];
  connections = 0;
  isDown = false;
  /** The reply code with which the server refuses all recipients, or null. */
  refusal: number | null = null;

  private readonly server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    onConnect: (_, callback) => {
      this.connections += 1;
      callback(this.isDown ? new Error('Down') : null);
    },
    onRcptTo: (_, __, callback) => {
      callback(this.refusal === null ? null : Object.assign(new Error('Refused'), { responseCode: this.refusal }));
    },
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address);
        this.received.push({ to, ...parse(Buffer.concat(chunks).toString()) });
        callback();
      });
    },
  });

  async listen(): Promise<string> {
    const listening = this.server.listen(0, '127.0.0.1');
    await once(listening, 'listening');
    return `smtp://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.server.close(resolve));
  }
}

/** Parses an email. Long lines are encoded as quoted-printable. */
function parse(mail: string): Omit<ReceivedMail, 'to'> {
  const escape = /=([0-9A-F]{2})/g;
  const source = mail.replace(/=\r\n/g, '').replace(escape, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return {
    source,
    subject: /^Subject: (.*?)\r$/m.exec(source)?.[1] ?? '',
    token: /#[\w-]+?=([\w-]+)/.exec(source)?.[1] ?? '',
  };
}
