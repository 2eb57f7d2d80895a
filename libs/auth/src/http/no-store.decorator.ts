import {
  Injectable,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Observable } from 'rxjs';
import type { HeaderSink } from './auth-http-exception';

/** Tells caches to keep nothing of an answer. (OAuth 2.1, token response; ASVS 14.3.2) */
@Injectable()
export class NoStoreInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    context.switchToHttp().getResponse<HeaderSink>().header('Cache-Control', 'no-store');
    return next.handle();
  }
}

/** `Cache-Control: no-store` on every answer of a controller; refusals have it from where they are made. */
export const NoStore = (): ClassDecorator => UseInterceptors(NoStoreInterceptor);
