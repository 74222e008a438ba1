// Step mode: a lesson that waits for its reader. Asked for by PAUSE=1 (make NN-step sets it), and only where
// both standard input and output are terminals: nothing ever waits in a pipe.
#pragma once

namespace headway {

// Does the lesson wait at its steps? No longer after the keys e and Ctrl-D.
bool pausing();

// Thrown when the reader quits; run_lesson ends with status 0. It is no error, so no lesson catches it.
struct Quit {};

// In step mode: shows the keys and waits for one. Enter goes on; e, Enter goes on to the end without another
// pause, and so does the end of the input (Ctrl-D); q, Enter quits.
void wait_for_keys();

}  // namespace headway
