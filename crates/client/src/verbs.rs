//! What can be asked of an engine without waiting. Both engines have it, word for word.

/// Implements it for an engine with a field `driver`.
macro_rules! verbs {
    ($engine:ty) => {
        impl $engine {
            /// Who the engine says it is.
            pub fn identity(&self) -> &readyok_protocol::session::client::Identity {
                self.driver.session().identity()
            }

            /// The name that the engine was started with, as errors tell it.
            pub fn name(&self) -> &str {
                self.driver.name()
            }

            /// The protocol that is spoken.
            pub fn dialect(&self) -> $crate::Dialect {
                self.driver.session().dialogue().dialect()
            }

            /// The options that the engine has.
            pub fn options(&self) -> &readyok_protocol::OptionSet {
                self.driver.session().options()
            }

            /// The value that an option has now, as far as it is known.
            pub fn option_value(&self, name: &str) -> Option<readyok_protocol::OptionValue> {
                self.driver.session().option_value(name)
            }

            /// The number of the process, which is also that of its group. `None` if it is none.
            pub fn process_id(&self) -> Option<u32> {
                self.driver.link().process.as_ref().map(|process| process.id())
            }

            /// What the engine did besides answering, the latest last: texts, breaches of its
            /// protocol, lines that are no messages. At most the latest 256, each told once.
            pub fn take_notices(&mut self) -> Vec<$crate::Notice> {
                self.driver.take_notices()
            }

            /// A handle for other threads to stop whatever search runs.
            pub fn stopper(&self) -> $crate::Stopper {
                $crate::Stopper::new(&self.driver)
            }

            /// Makes the next search one of a new game, even if it is the same [`Game`] as before:
            /// the engine forgets what it remembers.
            ///
            /// # Errors
            /// The engine cannot play Chess960 or the variant of the game, or is gone.
            pub fn new_game(&mut self, game: &$crate::Game) -> Result<(), $crate::EngineError> {
                self.driver.announce(game)
            }

            /// Tells a shogi engine how the game ended.
            ///
            /// # Errors
            /// The engine is gone.
            pub fn game_over(
                &mut self,
                result: readyok_protocol::GameResult,
            ) -> Result<(), $crate::EngineError> {
                self.driver.command(|session, now, out| {
                    session.game_over(result, now, out);
                    Ok(())
                })
            }

            /// Sets an option for good.
            ///
            /// # Errors
            /// The engine has no such option or the option no such value, or it follows from the
            /// game and the search.
            pub fn set_option(
                &mut self,
                name: &str,
                value: &str,
            ) -> Result<(), $crate::EngineError> {
                self.driver.set_option(name, Some(value))
            }

            /// Sets several options for good. Only what differs is sent.
            ///
            /// # Errors
            /// One of them cannot be set. Those before it are set.
            pub fn set_options<N: AsRef<str>, V: AsRef<str>>(
                &mut self,
                options: impl IntoIterator<Item = (N, V)>,
            ) -> Result<(), $crate::EngineError> {
                options.into_iter().try_for_each(|(name, value)| {
                    self.driver.set_option(name.as_ref(), Some(value.as_ref()))
                })
            }

            /// Presses a button, such as `Clear Hash`.
            ///
            /// # Errors
            /// The engine has no such button.
            pub fn press(&mut self, button: &str) -> Result<(), $crate::EngineError> {
                self.driver.set_option(button, None)
            }

            /// Tells the engine that it may be asked to ponder, so that it can plan its time.
            pub fn allow_pondering(&mut self, allowed: bool) {
                self.driver.allow_pondering(allowed);
            }

            /// What to answer when the engine says that it is not registered. If it has said so,
            /// the answer is sent as soon as the engine can take it.
            ///
            /// # Errors
            /// The name or the code cannot be written on one line, or the engine is gone.
            pub fn register(
                &mut self,
                with: readyok_protocol::Register<'static>,
            ) -> Result<(), $crate::EngineError> {
                self.driver.register(with)
            }

            /// Says a line as it is, for people who want to talk to the engine themselves. What comes of it
            /// is theirs: an answer that nobody here has asked for becomes a
            /// [notice](Self::take_notices), and after a `go` no search of this handle is to be trusted
            /// before its answer.
            ///
            /// # Errors
            /// There is a line break or another control character in it, or the engine is gone.
            pub fn say(&mut self, line: &str) -> Result<(), $crate::EngineError> {
                self.driver.say(line)
            }

            /// Switches the debug mode of the engine.
            ///
            /// # Errors
            /// The engine is gone.
            pub fn debug(&mut self, on: bool) -> Result<(), $crate::EngineError> {
                self.driver.command(|session, _, out| session.debug(on, out))
            }
        }
    };
}

pub(crate) use verbs;
