// Bidirectional control characters reorder the text around them, so that one name can look like another.

const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g

/** Replaces each control character by a code such as ⟨U+202E⟩. */
export function visibleText(text: string): string {
  return text.replace(BIDI_CONTROLS, (control) => `⟨U+${control.charCodeAt(0).toString(16).toUpperCase()}⟩`)
}

/** Name for a download. */
export function safeFileName(name: string): string {
  return name.replace(BIDI_CONTROLS, '_')
}
