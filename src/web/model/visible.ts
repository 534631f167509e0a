// Bidirectional control characters reorder the text around them: a name that holds one can look like another name.

const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g

/** The text with a code like ⟨U+202E⟩ for each control character. */
export function visibleText(text: string): string {
  return text.replace(BIDI_CONTROLS, (control) => `⟨U+${control.charCodeAt(0).toString(16).toUpperCase()}⟩`)
}

/** The name under which a download is saved. */
export function safeFileName(name: string): string {
  return name.replace(BIDI_CONTROLS, '_')
}
