import { Body, Controller, HttpCode, Inject, Post, Req, UseGuards, ValidationPipe } from '@nestjs/common';
import { ThrottlerGuard } from '@nestjs/throttler';
import { isEmail, IsString, ValidateBy } from 'class-validator';
import { AuthService, clientInfoOf, type AuthRequest } from 'nestjs-session-auth';
import { Mails } from './mails.service.js';

// `isEmail` alone accepts line breaks within quotes, and invisible characters.
// The lengths are checked first, because the normalization of a long text takes seconds.
const ADDRESS = /^[^\s"\p{C}\p{DI}]{1,64}@[!-~]{1,255}$/u;
// `ªlice@example.com` has the folded name of `alice@example.com`, but can be another mailbox.
const validate = (email: unknown): boolean =>
  typeof email === 'string' && ADDRESS.test(email) && email === email.normalize('NFKC') && isEmail(email);

class AddressForm {
  @ValidateBy({ name: 'isAddress', validator: { validate } }, { message: 'email must be an address' }) email!: string;
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
