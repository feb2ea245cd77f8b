/** Parts of names of variables that hold what nobody may learn even a part of. */
const SECRET = /KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|COOKIE|PRIVATE|DSN|JWT|BEARER|SIGNATURE|_PWD|_PAT$/i
/** Addresses and connection strings of services, which hold a password more often than not. */
const SERVICE =
  /(^|_)(DATABASE|DB|POSTGRES(QL)?|PG|MYSQL|MONGO(DB)?|REDIS|AMQP|RABBITMQ|SMTP|KAFKA|S3|PROXY|WEBHOOK)_?(UR[IL]|HOOK)|CONNECTION_?STR|_PROXY$|WEBHOOK/i

/** Whether `NAME=pattern` asks about a secret: it then holds nowhere, for its answer would be a part of it. */
export function asksForSecret(text: string): boolean {
  const name = text.slice(0, Math.max(0, text.indexOf('=')))
  return SECRET.test(name) || SERVICE.test(name)
}
