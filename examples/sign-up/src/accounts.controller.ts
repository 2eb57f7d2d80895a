import { Body, Controller, HttpCode, Inject, Post, Req, UseGuards, ValidationPipe } from '@nestjs/common';
import { ThrottlerGuard } from '@nestjs/throttler';
import { IsEmail, IsString, Matches, ValidateBy } from 'class-validator';
import { AuthService, clientInfoOf, type AuthRequest } from 'nestjs-session-auth';
import { Mails } from './mails.service.js';

const isInNfkc = (email: unknown): boolean => typeof email === 'string' && email === email.normalize('NFKC');
const IN_NFKC = { name: 'isInNfkc', validator: { validate: isInNfkc, defaultMessage: () => 'email must be in NFKC' } };

class AddressForm {
  // `ªlice@example.com` has the folded name of `alice@example.com`, but can be another mailbox.
  // `IsEmail` alone accepts line breaks within quotes, and invisible characters.
  @IsEmail() @Matches(/^[^\s"\p{C}]+$/u) @ValidateBy(IN_NFKC) email!: string;
}

class SignUpForm {
  @IsString() token!: string;
  @IsString() password!: string;
}

class PasswordResetForm {
  @IsString() token!: string;
  @IsString() new_password!: string;
}

@Controller()
@UseGuards(ThrottlerGuard)
export class AccountsController {
  @Inject() private readonly auth!: AuthService;
  @Inject() private readonly mails!: Mails;

  @Post('sign-up')
  @HttpCode(202)
  requestSignUp(@Body(ValidationPipe) { email }: AddressForm): Promise<void> {
    return this.mails.request('sign-up', email);
  }

  @Post('sign-up/complete')
  signUp(@Body(ValidationPipe) { token, password }: SignUpForm, @Req() request: AuthRequest): Promise<void> {
    const properties = { emailConfirmedAt: new Date() };
    return this.mails.redeem(token, (username) =>
      // If several requests use one token at the same time, the unique index on users accepts one of them.
      this.auth.createUser({ username, password, properties }, {}, clientInfoOf(request)),
    );
  }

  @Post('password-reset')
  @HttpCode(202)
  requestPasswordReset(@Body(ValidationPipe) { email }: AddressForm): Promise<void> {
    return this.mails.request('password-reset', email);
  }

  @Post('password-reset/complete')
  @HttpCode(204)
  resetPassword(@Body(ValidationPipe) form: PasswordResetForm, @Req() request: AuthRequest): Promise<void> {
    return this.auth.redeemPasswordResetToken(form.token, form.new_password, clientInfoOf(request));
  }
}
