/** Decodes the file of a secret. A UTF-8 mark, and the CR of line ends, are no part of a secret. */
export function secretText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replaceAll('\r\n', '\n')
}
