// The question for a file or folder of the computer with the server. The frame of the page shows the dialog.

/** The kind of entry to select. */
export type Want = 'file' | 'program' | 'folder';

class Picker {
  asked = $state.raw<{ want: Want; answer: (path: string | null) => void } | null>(null);

  answer(path: string | null) {
    this.asked?.answer(path);
    this.asked = null;
  }
}

export const picker = new Picker();

/** Asks for a path. Returns null if none is selected. */
export function pickPath(want: Want): Promise<string | null> {
  return new Promise((answer) => (picker.asked = { want, answer }));
}
