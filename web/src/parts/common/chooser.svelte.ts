// The question for one of several things. The frame of the page shows the dialog.

type Choice = readonly [id: number, name: string];

class Chooser {
  asked = $state.raw<{ title: string; choices: Choice[]; answer: (id: number | null) => void } | null>(null);

  /** Asks for one of the choices. Returns null if none is selected. */
  ask(title: string, choices: Choice[]): Promise<number | null> {
    return new Promise((answer) => (this.asked = { title, choices, answer }));
  }

  answer(id: number | null) {
    this.asked?.answer(id);
    this.asked = null;
  }
}

export const chooser = new Chooser();
