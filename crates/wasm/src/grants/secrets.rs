//! Secrets: read once at load, handed out by name, kept out of everything that is written down.

mod scrub;

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::process::Stdio;

use hookgate_core::LoadError;
use hookgate_core::config::{SecretGrant, SecretSource};
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;
use tokio::time::timeout;

use crate::limits::{MAX_SECRET_BYTES, SECRET_COMMAND_TIMEOUT};
pub(crate) use scrub::Scrubber;

/// The secrets of one plugin.
#[derive(Default)]
pub(crate) struct Secrets {
    values: Vec<(String, String)>,
    scrubber: Scrubber,
}

/// Names only.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl Secrets {
    /// Reads every value.
    pub(super) async fn load(
        grants: &[SecretGrant],
        folder: &std::path::Path,
    ) -> Result<Self, LoadError> {
        let mut values = Vec::with_capacity(grants.len());
        for grant in grants {
            let value = read(grant, folder)
                .await
                .map_err(|problem| problem.of(grant))?;
            values.push((grant.name.clone(), value));
        }
        Ok(Self {
            scrubber: Scrubber::new(&values),
            values,
        })
    }

    /// The value of a granted secret.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let named = self.values.iter().find(|(granted, _)| granted == name);
        named.map(|(_, value)| value.as_str())
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|(name, _)| name.as_str())
    }

    /// Takes the values out of texts.
    pub(crate) fn scrubber(&self) -> &Scrubber {
        &self.scrubber
    }
}

/// What is wrong with a source. Never holds anything of the value.
struct Problem {
    what: String,
    hint: String,
}

impl Problem {
    fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            hint: hint.into(),
        }
    }

    fn of(self, grant: &SecretGrant) -> LoadError {
        let message = format!("secret {}: {}", grant.name, self.what);
        LoadError::new(message).hint(self.hint)
    }
}

async fn read(grant: &SecretGrant, folder: &std::path::Path) -> Result<String, Problem> {
    let (value, source) = match &grant.source {
        SecretSource::Env(variable) => (variable_value(variable)?, format!("variable {variable}")),
        SecretSource::File(file) => {
            let name = format!("file {}", file.display());
            (text(file_bytes(file, &name)?, &name)?, name)
        }
        SecretSource::Command(words) => {
            // The program's name alone: an argument may be a secret too.
            let name = format!("command {}", words.first().map_or("", String::as_str));
            (text(output(words, folder, &name).await?, &name)?, name)
        }
    };
    if value.is_empty() {
        let hint = "put the value there, or take the secret out of `permissions.secrets`";
        return Err(Problem::new(format!("{source} is empty"), hint));
    }
    Ok(value)
}

fn variable_value(variable: &str) -> Result<String, Problem> {
    std::env::var(variable).map_err(|error| match error {
        std::env::VarError::NotPresent => Problem::new(
            format!("variable {variable} is not set"),
            format!("set {variable} in the environment of the gateway"),
        ),
        std::env::VarError::NotUnicode(_) => Problem::new(
            format!("the value of variable {variable} is not UTF-8"),
            format!("set {variable} to text"),
        ),
    })
}

fn file_bytes(file: &std::path::Path, name: &str) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|file| {
        file.take(MAX_SECRET_BYTES as u64 + 1)
            .read_to_end(&mut bytes)
    });
    match read {
        Ok(_) => Ok(bytes),
        Err(error) => Err(Problem::new(
            format!("cannot read {name}: {error}"),
            "`file:` names a file the gateway may read",
        )),
    }
}

/// What a program prints, run without a shell, without input, and not for ever.
async fn output(
    words: &[String],
    folder: &std::path::Path,
    name: &str,
) -> Result<Vec<u8>, Problem> {
    let by_hand = "run the command by hand to see what it says";
    let failed = |error: std::io::Error| {
        Problem::new(
            format!("{name} cannot be run: {error}"),
            "`command:` is a list: a program and its arguments, without a shell",
        )
    };
    let (program, arguments) = words
        .split_first()
        .ok_or_else(|| Problem::new("no command", "write a program and its arguments as a list"))?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        // It may hold the secret as well as the output.
        .stderr(Stdio::null())
        .kill_on_drop(true);
    if !folder.as_os_str().is_empty() {
        command.current_dir(folder);
    }
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn().map_err(failed)?;
    let _group = Group(child.id());
    let mut stdout = child.stdout.take();
    let run = async {
        let mut bytes = Vec::new();
        if let Some(stdout) = &mut stdout {
            let most = MAX_SECRET_BYTES as u64 + 1;
            stdout.take(most).read_to_end(&mut bytes).await?;
        }
        if bytes.len() > MAX_SECRET_BYTES {
            // It may go on printing; what it would say then is not waited for.
            return Ok((None, bytes));
        }
        Ok::<_, std::io::Error>((Some(child.wait().await?), bytes))
    };
    let limit = SECRET_COMMAND_TIMEOUT;
    match timeout(limit, run).await {
        Ok(Ok((Some(status), _))) if !status.success() => {
            Err(Problem::new(format!("{name} ended with {status}"), by_hand))
        }
        Ok(Ok((_, bytes))) => Ok(bytes),
        Ok(Err(error)) => Err(failed(error)),
        Err(_) => Err(Problem::new(
            format!("{name} was not done within {} s", limit.as_secs()),
            by_hand,
        )),
    }
}

/// The process group of a command; what is left of it is killed at the end, the program's children too.
struct Group(Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) = self
            .0
            .and_then(|id| i32::try_from(id).ok())
            .and_then(rustix::process::Pid::from_raw)
        {
            // Gone already, as it should be.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

/// A value as text, without the line break that editors and programs put behind it.
fn text(bytes: Vec<u8>, name: &str) -> Result<String, Problem> {
    if bytes.len() > MAX_SECRET_BYTES {
        return Err(Problem::new(
            format!("{name} gives more than {MAX_SECRET_BYTES} bytes"),
            "a secret is a token or a key, not a document",
        ));
    }
    let mut text = String::from_utf8(bytes).map_err(|_| {
        Problem::new(
            format!("what {name} gives is not UTF-8"),
            "store it as text, for example in base64",
        )
    })?;
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}
