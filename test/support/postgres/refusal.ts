/** An error as the server sends it: severity, code and message, each with a type letter before and a zero byte behind. */
export function toErrorResponse(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`)
  const head = Buffer.from("E\0\0\0\0")
  head.writeUInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}
