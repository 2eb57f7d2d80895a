import { Type } from 'class-transformer';
import { IsEmail, IsOptional, IsString, MinLength, ValidateNested } from 'class-validator';

class LoginFields {
  @IsString() email!: string;
  @IsString() password!: string;
}

class SignUpFields {
  @IsString() username!: string;
  @IsEmail() email!: string;
  @MinLength(8) password!: string;
}

class ChangedFields {
  @IsOptional() @IsEmail() email?: string;
  @IsOptional() @IsString() bio?: string;
  @IsOptional() @MinLength(8) password?: string;
}

export class LoginForm {
  @ValidateNested() @Type(() => LoginFields) user!: LoginFields;
}

export class SignUpForm {
  @ValidateNested() @Type(() => SignUpFields) user!: SignUpFields;
}

export class UserForm {
  @ValidateNested() @Type(() => ChangedFields) user!: ChangedFields;
}
